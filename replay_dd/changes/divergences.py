"""Where two versions first behave differently: calls with equal arguments that end in another way.

Rules of this module:

* The old version is the oracle of the new one: a function that is called as in the old version, and does something
  else, though the functions that it calls do not, is where to start. So is one that it calls in one version only.
* Of values, only what was noted of both counts; of two objects, only the attributes that both have.
* What is found is a hint for people, and never an answer: no run proves it.

Source: Shapiro, Algorithmic Program Debugging, 1983, with a program for the user who answers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from replay_dd.changes.calls_probe import CUT

_MOST_COMPARED = 100  # calls of the old version, for each of the new one


@dataclass(slots=True, eq=False)
class Call:
    """A call of a function.

    Attributes:
        path: its file, relative to the version.
        name: its qualified name; empty for the body of a module or class.
        line: where the function begins, from 1.
        given: its arguments when it was called.
        result: what it returned or yielded.
        left: its arguments when it ended.
        raised: whether it ended with an exception.
        calls: those that it made itself, in their order.
        cut_off: whether the call that made it was not seen to end.
    """

    path: str
    name: str
    line: int
    given: Any
    result: Any
    left: Any
    raised: bool
    calls: list[Call] = field(default_factory=list)
    cut_off: bool = False


@dataclass(frozen=True, slots=True)
class Divergence:
    """Two calls with equal arguments that end in another way.

    Attributes:
        old: the one of the old version.
        new: the one of the new version.
        fails: whether only one of them ends with an exception, and nothing in that version handles it.
    """

    old: Call
    new: Call
    fails: bool = False


def calls_in(noted: bytes) -> list[Call]:
    """Read what the probe wrote: the outermost calls."""
    found: dict[tuple[int, int], tuple[int, Call]] = {}
    for line in noted.decode("utf-8", "surrogateescape").splitlines():
        try:
            process, number, parent, path, first, name, given, result, left, raised = ast.literal_eval(line)
            known, ended, kept = map(ast.literal_eval, (given, repr(CUT) if raised else result, left))
            found[process, number] = parent, Call(path, name, first, known, ended, kept, raised)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue  # the run was killed as it wrote this
    outermost: list[Call] = []
    started = {process: order for order, process in enumerate(dict.fromkeys(process for process, _ in found))}
    for process, number in sorted(found, key=lambda key: (started[key[0]], key[1])):
        parent, call = found[process, number]
        above = found.get((process, parent))
        call.cut_off = above is None and parent > 0
        (outermost if above is None else above[1].calls).append(call)
    return outermost


def divergences(old: Sequence[Call], new: Sequence[Call]) -> list[Divergence]:
    """The innermost calls that diverge, one of each function, the likeliest cause first.

    First come those that end in one version with an exception that nothing there handles: that is the failure, or leads
    to it. Then come those that end with other values, or with an exception that is handled, the last ones first, since
    what differs early is often meant to.
    """
    unhandled = {id(call) for call in (*_unhandled(old), *_unhandled(new))}
    fail, differ = [], []
    for pair in _pairs(old, new):
        if pair.old.raised == pair.new.raised:
            differ += [pair] if _differs(pair) else []
        elif id(pair.old if pair.old.raised else pair.new) in unhandled:
            fail.append(replace(pair, fails=True))
        else:
            differ.append(pair)
    found = [*_innermost(fail, new), *reversed(_innermost(differ, new))]
    return list({pair.new.name: pair for pair in reversed(found)}.values())[::-1]


def _unhandled(calls: Sequence[Call]) -> Iterator[Call]:
    """Those that end with an exception, as do all that led to them."""
    waiting = [call for call in calls if not call.cut_off]
    while waiting:
        call = waiting.pop()
        if call.raised:
            yield call
            waiting += call.calls


def _pairs(old: Sequence[Call], new: Sequence[Call]) -> list[Divergence]:
    """The calls of the new version, each with one of the same function in the old one, with arguments like its own."""
    waiting: dict[str, list[Call]] = {}
    for call in _all(old):
        if _is_named(call):
            waiting.setdefault(call.name, []).append(call)
    found = []
    for call in filter(_is_named, _all(new)):
        candidates = waiting.get(call.name, [])
        for same in (alike, similar):
            equal = next((one for one in candidates[:_MOST_COMPARED] if same(one.given, call.given)), None)
            if equal is not None:
                candidates.remove(equal)
                found.append(Divergence(equal, call))
                break
    return found


def _differs(pair: Divergence) -> bool:
    """Whether both end normally, and differ in what they return or leave behind, though nothing else does."""
    old, new = pair.old, pair.new
    same = alike(old.result, new.result) and alike(old.left, new.left)
    return not (old.raised or new.raised or same) and alike(old.given, new.given)


def _innermost(pairs: Sequence[Divergence], new: Sequence[Call]) -> list[Divergence]:
    """Those in whose calls no other one is."""
    callers = {id(inner): call for call in _all(new) for inner in call.calls}
    around: set[int] = set()
    for pair in pairs:
        caller = callers.get(id(pair.new))
        while caller is not None and id(caller) not in around:
            around.add(id(caller))
            caller = callers.get(id(caller))
    return [pair for pair in pairs if id(pair.new) not in around]


def only_in_one(divergence: Divergence) -> tuple[list[Call], list[Call]]:
    """The calls that the old version makes there and the new one does not, and the other way round; each name once."""
    old, new = ({one.name: one for one in call.calls if _is_named(one)} for call in (divergence.old, divergence.new))
    return [old[name] for name in old if name not in new], [new[name] for name in new if name not in old]


def _all(calls: Sequence[Call]) -> Iterator[Call]:
    """These, and all that they led to, in the order in which they were made, however deep they are."""
    waiting = [*reversed(calls)]
    while waiting:
        call = waiting.pop()
        yield call
        waiting += reversed(call.calls)


def _is_named(call: Call) -> bool:
    """Whether it is a call of a function with a name, other than one that computes hashes: they depend on addresses."""
    name = call.name.rpartition(".")[2]
    return name not in ("", "__hash__") and not name.startswith("<")


def alike(one: Any, other: Any) -> bool:
    """Whether two values are equal as far as both are known."""
    return _agree(one, other, lambda one, other: all(map(alike, one, other)))


def similar(one: Any, other: Any) -> bool:
    """Whether two values are of the same kinds, and equal as far as they are numbers and texts."""
    return _agree(one, other, lambda one, other: bool(one[0] == other[0]))


def _agree(one: Any, other: Any, agree: Callable[[tuple[Any, ...], tuple[Any, ...]], bool]) -> bool:
    """Whether two values agree, of which containers and objects, as tuples, are compared by a function."""
    if CUT in (one, other):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return all(_agree(one[name], other[name], agree) for name in one.keys() & other.keys())
    if isinstance(one, tuple) and isinstance(other, tuple):
        return agree(one, other)
    return bool(one == other)
