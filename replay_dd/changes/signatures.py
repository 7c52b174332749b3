"""Which changes of the parameters of functions and of their calls need each other.

Rules of this module:

* A call that begins to pass a parameter by name needs the functions that begin to have it. A function that ceases to
  have a parameter needs the calls of its name to cease to pass it.
* Where functions get parameters that they cannot do without, or lose some, they and the calls that change need each
  other; if they only get or only lose some, these are the calls whose lines pass more or less than before.
* Which function a call means is told by its name alone; a class is called like its `__init__`. With too many functions
  of one name, it tells nothing. A parameter is new if none of them had it, and lost if none of them has it any more.
"""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from replay_dd.changes.bindings import deltas_of_lines
from replay_dd.changes.difference import Difference
from replay_dd.changes.outlines import is_python
from replay_dd.python_sources import parsed

_MOST = 12
"""Functions of one name: with more, the name tells nothing."""


@dataclass(frozen=True, slots=True)
class _Function:
    """The parameters of a function, with the deltas of their lines, and those that calls cannot leave out."""

    parameters: Mapping[str, int | None]
    required: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Call:
    """How much a call passes by place, what by name, with the deltas of that, and the deltas of all its lines."""

    by_place: int
    keywords: Mapping[str, int | None]
    deltas: frozenset[int]


@dataclass
class _Side:
    """The functions and calls of one version, by their names."""

    functions: dict[str, list[_Function]] = field(default_factory=dict)
    calls: dict[str, list[_Call]] = field(default_factory=dict)


def needs_of_signatures(difference: Difference) -> Iterator[tuple[int, int]]:
    """Pairs of a delta and one that it needs."""
    old, new = _Side(), _Side()
    for number, file in enumerate(difference.files):
        if is_python(file) and file.lines:
            lines = deltas_of_lines(difference, number)
            for is_new, side, text in ((False, old, file.before), (True, new, file.after)):
                changed = {line: delta for (added, line), delta in lines.items() if added is is_new}
                _read(side, b"".join(text), changed)
    yield from dict.fromkeys((one, other) for one, other in _pairs(old, new) if one != other)


def _pairs(old: _Side, new: _Side) -> Iterator[tuple[int, int]]:
    for name in old.functions.keys() & new.functions.keys():
        before, after = old.functions[name], new.functions[name]
        if max(len(before), len(after)) > _MOST:
            continue
        removed, added = old.calls.get(name, []), new.calls.get(name, [])
        had = {parameter for one in before for parameter in one.parameters}
        has = {parameter for one in after for parameter in one.parameters}
        needed = {parameter for one in after for parameter in one.required}
        for parameter in has - had:
            passing = {call.keywords.get(parameter) for call in added} - {None}
            yield from itertools.product(passing, _deltas_of(after, {parameter}))
        for parameter in had - has:
            passing = {call.keywords.get(parameter) for call in removed} - {None}
            yield from itertools.product(_deltas_of(before, {parameter}), passing)
        heads = _deltas_of(before, had - has) | _deltas_of(after, (has - had) & needed)
        calls = _changed(removed, added, reshaped_only=not (had - has and has - had))
        yield from itertools.product(heads, calls)
        yield from itertools.product(calls if heads else (), heads)


def _changed(removed: Sequence[_Call], added: Sequence[_Call], *, reshaped_only: bool) -> set[int]:
    """The deltas of calls; ``reshaped_only``: of those that pass another number of arguments, or others by name."""
    before, after = _shapes(removed), _shapes(added)
    return {delta for delta in {*before, *after} if not reshaped_only or before.get(delta) != after.get(delta)}


def _shapes(calls: Sequence[_Call]) -> Mapping[int, Counter[tuple[int, frozenset[str]]]]:
    """What the calls in the lines of each delta pass: how many arguments by place, and which by name."""
    found: dict[int, Counter[tuple[int, frozenset[str]]]] = {}
    for call in calls:
        for delta in call.deltas:
            found.setdefault(delta, Counter())[call.by_place, frozenset(call.keywords)] += 1
    return found


def _deltas_of(functions: Sequence[_Function], parameters: Collection[str]) -> set[int]:
    found = {delta for one in functions for name, delta in one.parameters.items() if name in parameters}
    return {delta for delta in found if delta is not None}


def _read(side: _Side, text: bytes, changed: Mapping[int, int]) -> None:
    """Note the functions and calls of a module; ``changed`` has the deltas of its lines, from 0."""
    try:
        module = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                    side.functions.setdefault(node.name, []).append(_function(one, changed))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            side.functions.setdefault(node.name, []).append(_function(node, changed))
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            side.calls.setdefault(name, []).append(_call(node, changed))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, changed: Mapping[int, int]) -> _Function:
    every = node.args
    by_place = [*every.posonlyargs, *every.args]
    without_default = by_place[: len(by_place) - len(every.defaults)]
    without_default += [one for one, value in zip(every.kwonlyargs, every.kw_defaults, strict=True) if value is None]
    parameters = {one.arg: changed.get(one.lineno - 1) for one in (*by_place, *every.kwonlyargs)}
    return _Function(parameters, frozenset(one.arg for one in without_default))


def _call(node: ast.Call, changed: Mapping[int, int]) -> _Call:
    keywords = {one.arg: changed.get(one.lineno - 1) for one in node.keywords if one.arg is not None}
    starts = [node.func.end_lineno or node.func.lineno]
    starts += [*(one.lineno for one in node.args), *(one.lineno for one in node.keywords)]
    deltas = (changed.get(line - 1) for line in starts)
    return _Call(len(node.args), keywords, frozenset(delta for delta in deltas if delta is not None))
