"""Where a thread left the function in which it took something that it never gave back.

Rules of this module:

* The call is the latest one of that function, by that thread, which had begun when it took the thing.
* An exception left the call if its last instruction returns nothing, and the thread went on outside of it; it was
  raised where ``handled.py`` says.
* A ``return`` in a ``with`` ends in the line of that ``with``, after the line that tells.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.python_sources import parsed
from replay_dd.schedules.hang import HangFrame, HangStep
from replay_dd.schedules.observed.flow import ENDS, Activation, Flow
from replay_dd.schedules.story.handled import WAITS, raised_at


class WayOut(NamedTuple):
    """Where a function returned, or where an exception was raised that left it, or passed its line."""

    file: str
    line: int
    raised: bool


def way_out_of(flow: Flow | None, step: HangStep, place: HangFrame) -> WayOut | None:
    """How the call ended in which a thread did something; None if it did not, or that is not known.

    Args:
        flow: how values flowed through the run; None if that was not followed.
        step: what the thread did.
        place: the function in which it did so.
    """
    call = None if flow is None else _call_of(flow, step, place)
    if flow is None or call is None:
        return None
    names = [flow.instruction(number).name for number in call.steps]
    if names[-1] in ENDS:
        lines = [flow.instruction(number).line for number in call.steps]
        before = next((line for line in reversed(lines) if line != lines[-1]), lines[-1])
        return WayOut(call.code.file, max(before, lines[-1]), raised=False)
    if names[-1] in WAITS or _goes_on_inside(flow, call):
        return None
    return WayOut(call.code.file, flow.instruction(raised_at(flow, call, len(call.steps) - 1)).line, raised=True)


def never_releases(place: HangFrame) -> bool:
    """Whether the innermost function around a line never calls ``release()``: its caller does, once it has returned."""
    function = _function_around(place)
    if function is None:
        return False
    return not _calls_release(function)


def decides_to_release(place: HangFrame, left: WayOut) -> bool:
    """Whether the line from which a function returned is an ``if`` that decides whether it calls ``release()``."""
    function = _function_around(place)
    if function is None:
        return False
    decisions = [node for node in ast.walk(function) if isinstance(node, ast.If) and node.test.lineno == left.line]
    return any(_calls_release(node) for node in decisions)


def returns_in_one_way(place: HangFrame) -> bool:
    """Whether the innermost function around a line has one ``return``, at its end, or none."""
    function = _function_around(place)
    if function is None:
        return False
    inner = {id(one) for node in ast.walk(function) if node is not function for one in _inside_of_function(node)}
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and id(node) not in inner]
    return not returns or (len(returns) == 1 and _last_of(function.body) is returns[0])


def _calls_release(node: ast.AST) -> bool:
    called = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(isinstance(one, ast.Attribute) and one.attr == "release" for one in called)


def _function_around(place: HangFrame) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    try:
        with tokenize.open(place.path) as file:
            tree = parsed(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    around = [node for node in functions if node.lineno <= place.line <= (node.end_lineno or node.lineno)]
    return around[-1] if around else None


def _inside_of_function(node: ast.AST) -> Iterator[ast.AST]:
    return ast.walk(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else iter(())


def _last_of(body: Sequence[ast.stmt]) -> ast.stmt:
    """The last statement of a block, or of the ``with`` statement that ends it."""
    last = body[-1]
    return _last_of(last.body) if isinstance(last, (ast.With, ast.AsyncWith)) else last


def _call_of(flow: Flow, step: HangStep, place: HangFrame) -> Activation | None:
    for call in reversed(flow.activations):
        if call.thread != step.thread or (call.code.path, call.code.function) != (place.path, place.function):
            continue
        times = [flow.steps[number].time for number in call.steps]
        if any(0 < time <= step.time for time in times):
            return call
    return None


def _goes_on_inside(flow: Flow, call: Activation) -> bool:
    """Whether the thread is still in a call, or in one that it makes, at the end of what was followed."""
    last = next(number for number in range(len(flow.steps) - 1, -1, -1) if flow.steps[number].thread == call.thread)
    while last >= 0:
        around = flow.activation(last)
        if around is call:
            return True
        last = around.called_at
    return False
