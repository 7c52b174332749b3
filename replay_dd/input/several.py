"""Several failures in one input: each with an input of its own.

Rules of this module:

* When a failure is found, what causes it is left out of the input, and the program runs on the rest. If it still fails,
  that is reduced in turn; until the rest passes, or fails as it does on an empty input.
* Leaving something out may itself break an input. So the cause is left out in several ways, from one of its items
  or lines alone, since the others may be what any such input needs, to the largest units that it touches: the first
  rest that passes, or shows a failure known by then, counts. A new failure counts only if it shows in at least two
  ways, and in enough of the input.
* The largest units take other failures with them. So a rest that passes does not count against a new failure of a
  larger rest that items show.
* Items of a list can be left out more safely than members of a record. So an item is also left out with its neighbours:
  a failure that shows each time is none of what was left out, and the more so, the more such neighbours there are.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.circumstance import Goal
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.input.brackets import bracket_tree
from replay_dd.input.reduce import InputIsolation
from replay_dd.input.space import Inside, Left, Subtrees
from replay_dd.input.target import Target
from replay_dd.input.trees import Node, everything, families_at
from replay_dd.input.units import LINES
from replay_dd.input.values_without_cause import MOST_ALONE, format_of, items_of_cause, without_cause, written_out
from replay_dd.outcome import Outcome

_LEAST_WITNESSES = 2
_LEAST_REST = 0.25  # of the input: what is left if nearly all is left out fails for want of the rest
_MEMBER = re.compile(rb"[\"']?[\w.$-]+[\"']?\s*[:=]")  # how a member of a record begins, such as `"name": 5`


@dataclass(frozen=True, slots=True)
class SeveralFailures:
    """All failures that an input shows.

    Attributes:
        found: one answer for each, in the order in which they were found.
        rest: how the program ends without the causes of all of them; None if that is not known.
    """

    found: tuple[InputIsolation, ...]
    rest: Ending | None

    @property
    def distinct(self) -> int:
        """How many of them differ in their failure or their smallest input."""
        return len({(one.isolation.failure.signature, one.failing) for one in self.found})

    @property
    def exit_code(self) -> int:
        """The highest exit status of the answers."""
        return max(one.isolation.exit_code for one in self.found)


def reduce_all(
    content: bytes,
    target: Target,
    oracle: Oracle,
    reduce: Callable[[bytes, int | None, float | None], InputIsolation],
    *,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    on_found: Callable[[InputIsolation], None] = lambda found: None,
) -> SeveralFailures:
    """Reduce an input for each failure in it.

    Args:
        content: the failing input.
        target: runs the program.
        oracle: what counts as a failure.
        reduce: reduces an input to one failure, within so many tests and seconds.
        max_tests: stop after this many tests.
        time_budget_s: stop after this many seconds.
        on_found: called with each answer.

    Raises:
        ReplayDDError: as :func:`~replay_dd.input.reduce.reduce_input` does, for the first failure.
    """
    began_s = time.monotonic()
    oracle = oracle.about(content).named(target.names(content))
    found: list[InputIsolation] = []
    known: list[Ending] = []
    on_nothing: Ending | None = None
    limit_s = target.time_limit_s
    if target.packing is None:
        content = written_out(content, target, oracle)
    while True:
        tests_left = None if max_tests is None else max(max_tests - sum(one.isolation.tests for one in found), 1)
        seconds_left = None if time_budget_s is None else max(time_budget_s - (time.monotonic() - began_s), 0.001)
        target.time_limit_s = limit_s
        answer = reduce(content, tests_left, seconds_left)
        found.append(answer)
        on_found(answer)
        assert answer.isolation.circumstance.goal is Goal.SIMPLIFY
        assert answer.kept is not None
        if not answer.isolation.complete or answer.is_rewritten:
            return SeveralFailures(tuple(found), None)
        if on_nothing is None:
            # A failure that it shows on nothing at all is none of the input.
            on_nothing = oracle.ending(target.run(b""))
        known.append(answer.first)
        chosen = _rest(content, answer.kept, target, oracle, known, on_nothing)
        if chosen is None:
            return SeveralFailures(tuple(found), None)
        content, ending = chosen
        if not content:
            return SeveralFailures(tuple(found), ending)


def _rest(
    content: bytes, kept: IntervalSet, target: Target, oracle: Oracle, known: list[Ending], on_nothing: Ending
) -> tuple[bytes, Ending] | None:
    """What is left without the cause of a failure, and how the program ends on it; None if that cannot be told.

    What is left is empty if there is no other failure in it.
    """
    tried: dict[bytes, Ending] = {}
    witnesses: Counter[tuple[str, tuple[str, ...]]] = Counter()
    like_nothing: Ending | None = None
    passed: Ending | None = None

    def is_scrap(rest: bytes) -> bool:
        return len(rest) < _LEAST_REST * len(content)

    def ending_of(rest: bytes) -> Ending:
        if rest not in tried:
            tried[rest] = oracle.ending(target.run(rest), rest)
        return tried[rest]

    for space, configuration in _ways(content, kept, target):
        rest = space.build(configuration)
        if len(rest) == len(content):
            continue
        ending = ending_of(rest)
        witnesses[ending.signature, ending.complaints] += 1
        if ending.is_like(on_nothing):
            like_nothing = ending
        if ending.verdict is Outcome.PASS:
            passed = ending
            break
        if ending.verdict is Outcome.FAIL and any(ending.is_like(one) for one in known):
            return rest, ending
    new = {
        rest
        for rest, ending in tried.items()
        if ending.verdict is Outcome.FAIL and not is_scrap(rest) and not ending.is_like(on_nothing)
    }
    best, most = None, (_LEAST_WITNESSES - 1, 0)
    for space, siblings, item in _items(content, kept, target):
        alone, *more = [
            space.build(space.all - IntervalSet.of(left_out)) for left_out in _with_neighbours(siblings, item)
        ]
        if alone in new:
            shown = 1 + sum(not is_scrap(rest) and ending_of(rest).is_like(tried[alone]) for rest in more)
            if (shown, len(siblings)) > most:
                best, most = alone, (shown, len(siblings))
    if best is not None:
        return best, tried[best]
    if passed is not None:
        return b"", passed
    if like_nothing is not None:
        return b"", like_nothing
    for rest, ending in reversed(tried.items()):
        if rest in new and witnesses[ending.signature, ending.complaints] >= _LEAST_WITNESSES:
            return rest, ending
    return None


def _items(content: bytes, kept: IntervalSet, target: Target) -> Iterator[tuple[Left, Sequence[int], int]]:
    """The items of lists that the bytes kept for a failure are part of; each in a space, with its siblings there."""
    values = format_of(content) if target.packing is None else None
    if values is not None:
        yield from items_of_cause(content, kept, values)
        return
    _, families, cause = _nodes(content, kept, target)
    inner = Subtrees(content, families)
    first = 0
    for family in families:
        siblings = range(first, first + len(family))
        first = siblings.stop
        hit = [number for number, node in zip(siblings, family, strict=True) if _touches(node, cause)]
        if len(family) > 1 and len(hit) <= MOST_ALONE:
            for number in hit:
                node = family[number - siblings.start]
                if node.kind == "item" and not _MEMBER.match(content[node.start : node.stop]):
                    yield inner, siblings, number


def _with_neighbours(siblings: Sequence[int], item: int) -> list[list[int]]:
    """An item alone, with the one before it, with the one after it, and with both, as far as there are any."""
    ways: tuple[list[int], ...] = ([], [item - 1], [item + 1], [item - 1, item + 1])
    return [[item, *others] for others in ways if all(other in siblings for other in others)]


def _nodes(content: bytes, kept: IntervalSet, target: Target) -> tuple[Node, list[list[Node]], IntervalSet]:
    """The tree of an input, all of its families of siblings, and the bytes that were kept for a failure."""
    packing = target.packing
    parse = bracket_tree if packing is None else packing.trees_inside(lambda path, body: bracket_tree)
    root = parse(content)
    families = [node.children for node in everything(root) if node.children]
    return root, families, kept & IntervalSet.from_intervals(_bodies(content, target))


def _bodies(content: bytes, target: Target) -> list[tuple[int, int]]:
    """Where the contents of the files of an input are."""
    packing = target.packing
    return [(0, len(content))] if packing is None else [file.body for file in packing.files(content)]


def _ways(content: bytes, kept: IntervalSet, target: Target) -> Iterator[tuple[Left, IntervalSet]]:
    """Ways to leave out the bytes that were kept for a failure, from these alone to all that they are part of."""
    packing = target.packing
    values = format_of(content) if packing is None else None
    if values is not None:
        yield from without_cause(content, kept, values)
        return
    root, families, cause = _nodes(content, kept, target)

    def without(space: Left, touched: Iterable[int]) -> tuple[Left, IntervalSet]:
        return space, space.all - IntervalSet.of(touched)

    inner = Subtrees(content, families)
    nodes = [node for family in families for node in family]
    hit = {id(node) for node in nodes if _touches(node, cause)}
    items = [number for number, node in enumerate(nodes) if id(node) in hit and node.kind == "item"]
    yield from (without(inner, [number]) for number in reversed(items[-MOST_ALONE:]))
    lines = Inside(content, [(body, LINES) for body in _bodies(content, target)])
    of_cause = list(lines.touched(cause))
    if 1 < len(of_cause) <= MOST_ALONE:
        yield from (without(lines, [line]) for line in reversed(of_cause))
    yield Subtrees(content, [[Node(start, stop, "cause") for start, stop in cause.intervals]]), EMPTY
    innermost = (
        number
        for number, node in enumerate(nodes)
        if id(node) in hit and not any(id(one) in hit for one in node.children)
    )
    yield without(inner, innermost)
    yield without(lines, of_cause)
    for depth in reversed(range(2 if packing is None else 3)):
        outer = Subtrees(content, families_at(root, depth))
        yield without(outer, outer.touched(cause))
    if packing is not None:
        files = Subtrees(content, [[file for file in everything(packing.tree(content)) if not file.children]])
        yield without(files, files.touched(cause))


def _touches(node: Node, cause: IntervalSet) -> bool:
    return bool(IntervalSet.range(node.start, node.stop) & cause)
