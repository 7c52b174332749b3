import pyparsing

said = ""
try:
    pyparsing.OneOrMore(pyparsing.nestedExpr()).parseString("(some words")
except pyparsing.ParseException as error:
    said = str(error)
assert "Expected ')'" in said, said
