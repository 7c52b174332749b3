from sympy import cosh, sinh, symbols

a, t, x = symbols("a t x")
y = (t * sinh(a / 2) ** 2 + t * cosh(a / 2) ** 2 - 2 * x * sinh(a / 2) * cosh(a / 2)).simplify()
assert y == t * cosh(a) - x * sinh(a), y
