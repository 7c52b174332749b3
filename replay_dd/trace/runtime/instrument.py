"""Rewrites a module so that each of its statements can be noted and left out.

Rules of this module:

* A statement asks before it runs: ``if __replay_dd__.step(7): total = total + x``. ``__replay_dd__`` is the activation:
  the call of the function, or the run of the module, that the statement belongs to.
* Control flow asks the activation, too: a condition, a loop, a handler goes where the recorded run went, whether it is
  evaluated or left out. ``return``, ``break`` and ``continue`` always take place.
* An expression is one with its statement, so comprehensions and lambdas are never divided.
* Places stay those of the original source, so that tracebacks do.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

ACTIVATION = "__replay_dd__"
RUNTIME = "__replay_dd_runtime__"
_NOT_DIVIDED = ("__del__",)  # the garbage collector calls it at any time
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Site(NamedTuple):
    """A statement: its lines, its kind, and the function that it is in."""

    line: int
    end_line: int
    kind: str
    function: str
    inner_end: int  # the first site after those of a class body; 0 for other statements


class Instrumented(NamedTuple):
    """A rewritten module."""

    tree: ast.Module
    sites: list[Site]
    codes: list[tuple[str, bool]]  # of modules and functions: the name, and whether it is a generator
    undivided: list[tuple[int, str]]  # what cannot be left out statement by statement: line, and what it is


def instrument(source: bytes | str, name: str, first_site: int, first_code: int) -> Instrumented:
    """Rewrite a module.

    Args:
        source: its text.
        name: how its own code is called.
        first_site: the number of its first statement.
        first_code: the number of its own code; those of its functions follow.

    Raises:
        SyntaxError, ValueError: it is no Python.
    """
    tree = ast.parse(source)
    return _Rewriter(name, first_site, first_code).module(tree)


def _name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def _call(method: str, *arguments: ast.expr, on: str = ACTIVATION) -> ast.Call:
    return ast.Call(ast.Attribute(_name(on), method, ast.Load()), list(arguments), [])


def _number(value: int) -> ast.Constant:
    return ast.Constant(value)


def _statement(expression: ast.expr) -> ast.Expr:
    return ast.Expr(expression)


def _noted_and_raised() -> ast.ExceptHandler:
    body: list[ast.stmt] = [_statement(_call("noted")), ast.Raise()]
    return ast.ExceptHandler(_name("BaseException"), None, body)


class _Rewriter:
    def __init__(self, name: str, first_site: int, first_code: int) -> None:
        self._name = name
        self._first_site, self._first_code = first_site, first_code
        self._sites: list[Site] = []
        self._codes: list[tuple[str, bool]] = []
        self._undivided: list[tuple[int, str]] = []
        self._path: list[str] = []

    def module(self, tree: ast.Module) -> Instrumented:
        tree.body = self._scope(tree.body, self._name, is_generator=False)
        ast.fix_missing_locations(tree)
        return Instrumented(tree, self._sites, self._codes, self._undivided)

    def _scope(self, body: list[ast.stmt], name: str, *, is_generator: bool) -> list[ast.stmt]:
        """The body of a module or a function, as one activation."""
        code = self._first_code + len(self._codes)
        self._codes.append((name, is_generator))
        head, rest = _head_of(body)
        # No location of their own: what they raise has none in the source, either.
        entered = ast.Assign([ast.Name(ACTIVATION, ast.Store())], _call("enter", _number(code), on=RUNTIME))
        inside = ast.Try(self._body(rest) or [ast.Pass()], [_noted_and_raised()], [], [_statement(_call("leave"))])
        for new in (entered, inside):
            ast.copy_location(new, (rest or body or [ast.Pass(lineno=1, col_offset=0)])[0])
        return [*head, entered, inside]

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            for new in self._rewritten(statement):
                found.append(ast.copy_location(new, statement))
        return found

    def _site(self, node: ast.AST, kind: str = "", end: int | None = None) -> int:
        line = getattr(node, "lineno", 1)
        last = end if end is not None else getattr(node, "end_lineno", None) or line
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            line = decorators[0].lineno
        self._sites.append(Site(line, last, kind or type(node).__name__.lower(), ".".join(self._path), 0))
        return self._first_site + len(self._sites) - 1

    def _rewritten(self, node: ast.stmt) -> list[ast.stmt]:
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            rewritten: list[ast.stmt] = method(node)
            return rewritten
        return self._simple(node)

    def _step(self, site: int) -> ast.Call:
        return _call("step", _number(site))

    def _simple(self, node: ast.stmt) -> list[ast.stmt]:
        site = self._site(node)
        yields = sum(isinstance(one, ast.Yield) for one in _own_nodes(node))
        _Yields().visit(node)
        instead: list[ast.stmt] = [
            _statement(_call("resumed", ast.Yield(_call("suspended", ast.Constant(None))))) for _ in range(yields)
        ]
        return [ast.If(self._step(site), [node], instead)]

    def _global(self, node: ast.stmt) -> list[ast.stmt]:
        return [node]

    _nonlocal = _global

    def _pass(self, node: ast.stmt) -> list[ast.stmt]:
        return [_statement(self._step(self._site(node))), node]

    _break = _continue = _pass

    def _importfrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        return [node] if node.module == "__future__" else self._simple(node)

    def _raise(self, node: ast.Raise) -> list[ast.stmt]:
        site = self._site(node)
        # It may raise an exception again that has been noted where it came from.
        return [ast.If(self._step(site), [_statement(_call("raises")), node], [])]

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        site = self._site(node)
        if node.value is None:
            return [_statement(self._step(site)), node]
        _Yields().visit(node)
        node.value = ast.IfExp(self._step(site), node.value, ast.Constant(None))
        return [node]

    def _functiondef(self, node: Any) -> list[ast.stmt]:
        site = self._site(node, "def", node.body[0].lineno - 1 if node.body[0].lineno > node.lineno else node.lineno)
        if node.name not in _NOT_DIVIDED:
            self._path.append(node.name)
            is_generator = any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in _own_nodes(*node.body))
            node.body = self._scope(node.body, node.name, is_generator=is_generator)
            self._path.pop()
        else:
            self._undivided.append((node.lineno, f"`{node.name}`, which the garbage collector calls"))
        return [ast.If(self._step(site), [node], [])]

    _asyncfunctiondef = _functiondef

    def _classdef(self, node: ast.ClassDef) -> list[ast.stmt]:
        site = self._site(node, "class", node.lineno)
        self._path.append(node.name)
        head, rest = _head_of(node.body)
        node.body = [*head, *self._body(rest)] or [ast.Pass()]
        self._path.pop()
        number = site - self._first_site
        self._sites[number] = self._sites[number]._replace(inner_end=self._first_site + len(self._sites))
        return [ast.If(self._step(site), [node], [])]

    def _condition(self, test: ast.expr, kind: str) -> ast.expr:
        site = self._site(test, kind)
        return ast.IfExp(self._step(site), _call("decide", _Yields().visit(test)), _call("as_recorded"))

    def _if(self, node: ast.If) -> list[ast.stmt]:
        node.test = self._condition(node.test, "if")
        node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        return [node]

    def _while(self, node: ast.While) -> list[ast.stmt]:
        node.test = self._condition(node.test, "while")
        node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        return [node]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        site = self._site(node, "for", node.iter.end_lineno)
        iterable = ast.IfExp(self._step(site), _Yields().visit(node.iter), _call("absent"))
        bound = ast.Assign([node.target], ast.Attribute(_name(ACTIVATION), "item", ast.Load()))
        binding = ast.If(ast.Attribute(_name(ACTIVATION), "bound", ast.Load()), [bound], [])
        for new in (bound, binding):
            ast.copy_location(new, node.target)
        node.target = ast.Attribute(_name(ACTIVATION), "item", ast.Store())
        node.iter = _call("loop", _number(site), iterable)
        node.body, node.orelse = [binding, *self._body(node.body)], self._body(node.orelse)
        return [node]

    def _with(self, node: ast.With) -> list[ast.stmt]:
        item = node.items[0]
        site = self._site(item.context_expr, "with")
        inner: list[ast.stmt] = []
        if item.optional_vars is not None:
            bound = ast.Assign([item.optional_vars], ast.Attribute(_name(ACTIVATION), "item", ast.Load()))
            inner = [ast.If(ast.Attribute(_name(ACTIVATION), "bound", ast.Load()), [bound], [])]
            for new in (bound, *inner):
                ast.copy_location(new, item.optional_vars)
        if len(node.items) > 1:
            rest = ast.copy_location(ast.With(node.items[1:], node.body), node)
            inner += self._with(rest)
        else:
            inner += self._body(node.body)
        manager = _call("manager", ast.IfExp(self._step(site), _Yields().visit(item.context_expr), _call("absent")))
        guarded = ast.Try(inner, [_noted_and_raised()], [], [])
        return [ast.With([ast.withitem(manager, ast.Attribute(_name(ACTIVATION), "item", ast.Store()))], [guarded])]

    def _asyncwith(self, node: ast.AsyncWith) -> list[ast.stmt]:
        self._undivided.append((node.lineno, "the head of an `async with`"))
        node.body = self._body(node.body)
        return [node]

    def _asyncfor(self, node: ast.AsyncFor) -> list[ast.stmt]:
        self._undivided.append((node.lineno, "the head of an `async for`"))
        node.body, node.orelse = self._body(node.body), self._body(node.orelse)
        return [node]

    def _try(self, node: ast.Try) -> list[ast.stmt]:
        handlers = []
        inner = self._body(node.body)
        for handler in node.handlers:
            site = self._site(handler, "except", handler.type.end_lineno if handler.type else handler.lineno)
            kind = handler.type or _name("BaseException")
            chosen = ast.IfExp(self._step(site), _call("catches", kind), _call("as_recorded_catch"))
            handler.type = ast.BoolOp(ast.Or(), [_call("noted"), chosen])
            handler.body = self._body(handler.body)
            handlers.append(handler)
        other = self._body(node.orelse)
        divided: ast.stmt = ast.copy_location(ast.Try(inner, handlers, other, []), node) if handlers else node
        if not node.finalbody:
            return [divided]
        body = [divided] if handlers else [*inner, *other]
        noted = ast.copy_location(ast.Try(body, [_noted_and_raised()], [], []), node)
        return [ast.Try([noted], [], [], self._body(node.finalbody))]

    def _trystar(self, node: ast.stmt) -> list[ast.stmt]:
        self._undivided.append((node.lineno, "a `try` with `except*`"))
        return self._simple(node)

    def _match(self, node: Any) -> list[ast.stmt]:
        site = self._site(node.subject, "match")
        node.subject = _Yields().visit(node.subject)
        bodies = [case.body for case in node.cases]
        for number, case in enumerate(node.cases):
            case.body = [_statement(_call("chose", _number(number)))]
        chosen: list[ast.stmt] = []
        for number, body in reversed(list(enumerate(bodies))):
            chosen = [ast.If(_call("is_case", _number(number)), body, chosen)]
        # In the order of the source, so that the numbers of statements are in it, too.
        one: Any = chosen
        while one:
            one[0].body = self._body(one[0].body)
            ast.copy_location(one[0], node)
            one = one[0].orelse
        return [ast.If(self._step(site), [node], []), *chosen]


def _head_of(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """What must stay in front, untouched: a docstring, and imports from the future; and the rest."""
    number = 0
    while number < len(body):
        one = body[number]
        is_text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str)
        if not (number == 0 and is_text) and not (isinstance(one, ast.ImportFrom) and one.module == "__future__"):
            break
        number += 1
    return body[:number], body[number:]


def _own_nodes(*nodes: ast.AST) -> Any:
    """All nodes of the same scope."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


class _Yields(ast.NodeTransformer):
    """Tells the activation where a generator or a coroutine hands over, and where it goes on."""

    def visit_Await(self, node: ast.Await) -> ast.expr:
        self.generic_visit(node)
        node.value = _call("awaited", node.value)
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        self.generic_visit(node)
        node.value = _call("suspended", node.value or ast.Constant(None))
        return ast.copy_location(_call("resumed", node), node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]
