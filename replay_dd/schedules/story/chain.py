"""The chain from cause to effect: how what the threads did to each other came to the line that fails.

Zeller, "Isolating Cause-Effect Chains from Computer Programs" (FSE 2002): a chain of values in the failing run, each of
which led to the next one, told beside what the passing run had in its place.

Rules of this module:

* The chain is followed backwards, from what the failing line works on, by dependences that really happened
  (:mod:`~replay_dd.schedules.story.dependences`), until it meets an access of the conflict.
* A value that the passing run has, too, at the same visit of the same place, is no part of the chain: it does not make
  the difference. Accesses of the conflict are, as there the order does.
* Where it cannot be followed farther, the chain says so and begins there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from replay_dd.schedules.model import Ending, Place
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access, Value
from replay_dd.schedules.story.chain_end import RAISES, failing_step, thread_that_died
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.dependences import RAISED, Dependences, Kind, Node
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.words import Letters, letters_of

MOST_STEPS = 6
_MOST_NODES = 20_000
_COSTS = {Kind.DATA: 1, Kind.THROUGH_C: 3, Kind.KEY: 8, Kind.CONTROL: 20}
_COMPARES = ("COMPARE_OP", "IS_OP", "CONTAINS_OP")
_SCALARS = ("int", "str", "bytes", "float", "bool", "complex", "NoneType")  # the text tells all of these
_DIFFERENT, _UNKNOWN, _SAME = range(3)
_RAISES_HERE = "raises an exception"
_MADE_UP = ("@", ".")  # names of variables that no program writes, such as those of pytest's assertions
_LEFT_OUT = "..."  # but of long ones


class ChainStep(NamedTuple):
    """One line of the chain.

    Attributes:
        thread: which thread executed it.
        place: where.
        words: what it did, with values.
        passing: the same in the passing run; empty if it is the same there, or the line is not visited.
        reached: whether the passing run visits it, too.
    """

    thread: str
    place: Place
    words: str
    passing: str
    reached: bool


class Chain(NamedTuple):
    """The chain.

    Attributes:
        steps: from the cause to the failing line.
        ending: how the run fails there.
        whole: whether it begins with an access of the conflict.
        lost: where it could not be followed farther, if it does not.
    """

    steps: tuple[ChainStep, ...]
    ending: str
    whole: bool
    lost: str = ""


NO_CHAIN = Chain((), "", whole=False)


def follow_chain(
    failing: Dependences,
    passing: Dependences,
    conflict: Conflict,
    ending: Ending,
    passed: Ending | None = None,
    told: Story | None = None,
) -> Chain:
    """The chain of a failing run.

    Args:
        failing: the dependences of the failing run.
        passing: those of the passing run.
        conflict: what the threads did to each other.
        ending: how the failing run ended.
        passed: how the passing run ended.
        told: the story, whose names for objects it goes on with.
    """
    end = failing_step(failing.flow, ending)
    if end is None:
        return Chain((), "", whole=False, lost="which line fails is not known")
    chain = _Search(failing, passing, conflict, told).chain(*end)
    died = thread_that_died(failing.flow, ending, passed)
    if died is None or not chain.steps:
        return chain
    through = _Search(failing, passing, conflict, told).chain(*died)
    if not through.whole:
        return chain
    *steps, last = through.steps
    words = ": ".join(filter(None, (last.words, f"raises {through.ending}")))
    return chain._replace(steps=(*steps, last._replace(words=words), chain.steps[-1]), whole=True, lost="")


@dataclass
class _Search:
    """Follows dependences from the failing step to the conflict."""

    failing: Dependences
    passing: Dependences
    conflict: Conflict
    story: Story | None = None
    came_from: dict[Node, Node | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._in_passing = {visit: number for number, (visit, _) in enumerate(self.passing.flow.visits())}
        self._in_failing = {visit for visit, _ in self.failing.flow.visits()}
        self._both = self.failing, self.passing
        self._parted: dict[str, Node | None] = {}
        sides = [side for side in (self.conflict.left, self.conflict.right) if side is not None]
        left = [] if self.conflict.left is None else [self.conflict.left.access]
        others = [other for side in sides for other in side.others]
        right = [] if self.conflict.right is None else [self.conflict.right.access]
        self._goals: dict[int, tuple[int, Access]] = {}
        for rank, accesses in ((2, right), (1, others), (0, left)):
            for access in accesses:
                step = self.failing.step_of(access)
                if step is not None:
                    self._goals[step] = rank, access

    def chain(self, end: int, how: str) -> Chain:
        """The chain that ends at a step."""
        begin, lost = self._search(end)
        path: list[Node] = []
        node: Node | None = begin
        while node is not None:
            path.append(node)
            node = self.came_from[node]
        whole = begin.step in self._goals
        return Chain(tuple(_shortened(_joined(self._told(path)))), how, whole, "" if whole else lost)

    def _search(self, end: int) -> tuple[Node, str]:
        """Where the chain begins, and where it was lost if that is not the conflict. Dijkstra's algorithm."""
        flow = self.failing.flow
        first = Node(end, RAISED)
        self.came_from[first] = None
        queue: list[tuple[int, Node, Node | None, bool]] = [(0, first, None, False)]
        done: set[Node] = set()
        met: list[tuple[int, int, int, Node]] = []
        while queue and len(done) < _MOST_NODES:
            # Beyond an access of the conflict, values may be the same in both runs: the order makes the difference.
            cost, node, before, beyond = heapq.heappop(queue)
            if node in done:
                continue
            done.add(node)
            self.came_from[node] = before
            goal = self._goals.get(node.step)
            if goal is not None:
                met.append((self._sameness(node), goal[0], cost, node))
                beyond = True
            elif node != first and not beyond and self._sameness(node) == _SAME:
                continue
            decided_only = node == first and flow.instruction(end).name in RAISES
            if not decided_only:
                for other, kind in self.failing.of(node):
                    heapq.heappush(queue, (cost + _COSTS[kind], other, node, beyond))
            for missing in self._missing(node):
                heapq.heappush(queue, (cost + _COSTS[Kind.CONTROL], missing, node, beyond))
            branch = self.failing.deciding(node.step)
            if branch is not None:
                heapq.heappush(
                    queue, (cost + (1 if node == first else _COSTS[Kind.CONTROL]), Node(branch), node, beyond)
                )
        if met:
            return self._most_upstream(min(met), met), ""
        lost = [node for node in done if node.step in self.failing.lost]
        if lost:
            begin = max(lost)
            return begin, self.failing.lost[begin.step]
        differ = [node for node in done if self._sameness(node) == _DIFFERENT]
        return min(differ, default=first), "what it was made of before was not seen"

    def _missing(self, node: Node) -> Iterator[Node]:
        """Where threads went another way, or failed, that in the passing run change what a step looks at."""
        other = self._in_passing.get(self.failing.flow.visit(node.step))
        if other is None:
            return
        for write in self.passing.contents_written(other):
            step = self.passing.step_of(write)
            if step is not None and self.passing.flow.visit(step) not in self._in_failing:
                left = self._left_at(write.thread)
                if left is not None and left.step < node.step:
                    yield left

    def _left_at(self, thread: str) -> Node | None:
        """The last step that a thread has in both runs before it goes another way."""
        if thread not in self._parted:
            last, after = None, -1
            own, its = ([n for n, one in enumerate(of.flow.steps) if one.thread == thread] for of in self._both)
            for one, other in zip(own, its, strict=False):
                if self.failing.flow.visit(one) != self.passing.flow.visit(other):
                    after = one
                    break
                last = one
            if last is not None:
                flow = self.failing.flow
                goes_on = after >= 0 and flow.steps[after].at in flow.instruction(last).following
                self._parted[thread] = Node(last, 0 if goes_on else RAISED)
            else:
                self._parted[thread] = None
        return self._parted[thread]

    def _most_upstream(self, best: tuple[int, int, int, Node], met: Sequence[tuple[int, int, int, Node]]) -> Node:
        """The first access of the conflict from which values led to the best one."""
        _, _, least, begin = best
        for _, _, cost, node in sorted(met, key=lambda one: one[2]):
            if least < cost < least + _COSTS[Kind.CONTROL] and self._leads_to(node, best[-1]):
                begin = node
        return begin

    def _leads_to(self, node: Node | None, other: Node) -> bool:
        while node is not None and node != other:
            node = self.came_from[node]
        return node is not None

    def _sameness(self, node: Node) -> int:
        """Whether the passing run has the same value at the same visit of the same place."""
        other = self._in_passing.get(self.failing.flow.visit(node.step))
        if other is None:
            return _DIFFERENT
        keys = [
            [access.thing[2] for access in of.accesses(step)]
            for of, step in zip(self._both, (node.step, other), strict=True)
        ]
        if keys[0] != keys[1]:
            return _DIFFERENT
        own, its = self._value(self.failing, node), self._value(self.passing, Node(other, node.slot))
        if own is None or its is None or not own.is_known or not its.is_known:
            return _UNKNOWN
        if own.type in _SCALARS and its.type in _SCALARS and _LEFT_OUT not in own.text:
            return _SAME if own == its else _DIFFERENT
        return _UNKNOWN if own.type == its.type else _DIFFERENT

    def _value(self, of: Dependences, node: Node) -> Value | None:
        """The value of a node, if it was told."""
        step, instruction = of.flow.steps[node.step], of.flow.instruction(node.step)
        accesses = of.accesses(node.step)
        if accesses:
            access = accesses[0]
            return access.new if access.writes and not access.reads else access.old
        if instruction.stores and node.slot < len(step.values):
            return step.values[node.slot]
        return step.values[0] if instruction.name in ("RETURN_VALUE", "YIELD_VALUE") and step.values else None

    # -- in words ------------------------------------------------------------------------------------------------------

    def _told(self, path: Sequence[Node]) -> Iterator[ChainStep]:
        """The lines of the chain, one for each stay in a line."""
        flow, letters, letters_of_passing = self.failing.flow, *self._letters()
        for group in _by_line(flow, path):
            words: dict[str, str] = {}
            reached = True
            for node in group:
                name, text = self._words(self.failing, node, letters)
                if (
                    (node is path[-1] and text == _RAISES_HERE)
                    or not text
                    or any(before.endswith(f" {text}") for before in words)
                ):
                    continue  # the line only keeps what it has read
                other = self._in_passing.get(flow.visit(node.step))
                reached = reached and other is not None
                its = "" if other is None else self._words(self.passing, Node(other, node.slot), letters_of_passing)[1]
                raises_too = its == _RAISES_HERE and text.endswith(_RAISES_HERE)
                words[name + text] = "" if its == text or raises_too else its
            if words or group[-1] is path[-1]:
                activation = flow.activation(group[0].step)
                code, line = activation.code, flow.instruction(group[0].step).line
                place = Place(code.file, code.path, line, 0, code.function, "", gil_reachable=False)
                passing = ", ".join(filter(None, words.values()))
                yield ChainStep(activation.thread, place, ", ".join(words), passing, reached)

    def _letters(self) -> tuple[Letters, Letters]:
        """The names that the objects of both runs have in the story already."""
        if self.story is None:
            return Letters(), Letters()
        turns = (step for turn in self.story.turns for step in turn.steps)
        passing = (step for _, step in self.story.passing)
        failing, other = ([access for step in steps for access in step.accesses] for steps in (turns, passing))
        return letters_of(failing), letters_of(other)

    def _words(self, of: Dependences, node: Node, letters: Letters) -> tuple[str, str]:
        """(what it is about, what happens to it), in words."""
        step, instruction = of.flow.steps[node.step], of.flow.instruction(node.step)
        accesses = of.accesses(node.step)
        if of is self.failing and node.step in self._goals:
            accesses = [self._goals[node.step][1]]
        if accesses:
            fails = node.slot == RAISED and of is self.failing and self.came_from[node] is not None
            return f"{accesses[0].name}: ", letters.does(accesses[0]) + (f", {_RAISES_HERE}" if fails else "")
        values = [letters.value(value) for value in step.values]
        if instruction.name in _COMPARES and len(values) == 2:
            return "", f"{values[0]} {instruction.text} {values[1]}"
        if instruction.stores and node.slot < len(values):
            stored = instruction.stores[len(instruction.operands) - 1 - node.slot]
            return ("", "") if stored.startswith(_MADE_UP) else (f"{stored} = ", values[node.slot])
        if node.slot == RAISED:
            return "", _RAISES_HERE
        if instruction.name == "RETURN_VALUE" and values:
            return "returns ", values[0]
        return "", ""


def _by_line(flow: Flow, path: Iterable[Node]) -> list[list[Node]]:
    groups: list[list[Node]] = []
    last: tuple[int, int] | None = None
    for node in path:
        line = flow.steps[node.step].activation, flow.instruction(node.step).line
        if line != last:
            groups.append([])
        groups[-1].append(node)
        last = line
    return groups


def _joined(steps: Iterable[ChainStep]) -> list[ChainStep]:
    """One line for a comprehension and the line it stands in."""
    joined: list[ChainStep] = []
    for step in steps:
        if joined and _line(joined[-1]) == _line(step):
            last = joined.pop()
            words, passing = _both(last.words, step.words), _both(last.passing, step.passing)
            step = step._replace(words=words, passing=passing, reached=last.reached and step.reached)
        joined.append(step)
    return joined


def _line(step: ChainStep) -> tuple[str, str, int]:
    return step.thread, step.place.path, step.place.line


def _both(first: str, then: str) -> str:
    """What is told of a line in one go; what is only handed on is told once."""
    result = first.rpartition("returns ")[2]
    if result and then.endswith(result):
        first = first.removesuffix(result).removesuffix("returns ").removesuffix(", ")
    if then and first.endswith(then):
        then = ""
    return ", ".join(filter(None, (first, then)))


def _shortened(steps: list[ChainStep]) -> list[ChainStep]:
    """At most so many lines: what only hands a value on goes first, the beginning and the end stay."""
    for only in ("returns ", ""):
        number = len(steps) - 2
        while len(steps) > MOST_STEPS and number > 0:
            if steps[number].words.startswith(only) and (only or ":" not in steps[number].words):
                del steps[number]
            number -= 1
    while len(steps) > MOST_STEPS:
        del steps[len(steps) // 2]
    return steps
