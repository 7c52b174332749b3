"""The searches of ``DeltaDebugger``: minimize, maximize, or both.

Rules of this module:

* What fails is minimized argument by argument, as in the Debugging Book, then inside of elements and by blocks of
  texts, until a whole round has left nothing out. Of long texts, blocks come first, which saves most of the tests.
  The rest is made simpler.
* What passes is maximized in all arguments together: results for single arguments need not pass together. Then
  it goes on inside the elements that were left out, or that make the difference.
* The answer is tried again before it is given. One that was stopped early is not: it is only the best so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from replay_dd.call.aligned import aligned
from replay_dd.call.blocks import blocks
from replay_dd.call.containers import is_text
from replay_dd.call.hoists import hoists
from replay_dd.call.parts import Additions, Parts
from replay_dd.call.simpler import simpler
from replay_dd.call.source import source_of
from replay_dd.call.spaces import DEEPEST, Level, Space, levels_below
from replay_dd.call.tester import Stopped, Tester
from replay_dd.dd import EMPTY, BookDD, IntervalSet, Search
from replay_dd.dd.split import Splitter
from replay_dd.errors.program import DoesNotPassError, NotReproducedError
from replay_dd.errors.user import ArgumentError
from replay_dd.outcome import Outcome

Arguments = dict[str, Any]
Triple = tuple[Arguments, Arguments, Arguments]
_PROOF_RUNS = 2
_SHOWN = 200
_LONG_TEXT = 100  # longer than any in the book


class ArgumentSearch:
    """Searches of the arguments of one call.

    Args:
        tester: tests the call with other arguments.
        order: the names of arguments in the order in which they are minimized; the rest comes after them.
        split: a split rule's name or a splitter.
        nested: minimize what is inside of elements, too.
        say: told what happens, line by line.
        detailed: whether it is told what is left after each test.

    Attributes:
        stopped_by: what ended a search early: ``"tests"``, ``"time"``, ``"interrupt"``; otherwise None.
    """

    def __init__(
        self,
        tester: Tester,
        *,
        order: Sequence[str] = (),
        split: str | Splitter = "front",
        nested: bool = True,
        say: Callable[[str], None] = lambda line: None,
        detailed: bool = False,
    ) -> None:
        self.stopped_by: str | None = None
        self._base_passes = False
        self._tester = tester
        self._call = tester.call
        names = tester.call.reducible
        self._names = [*(name for name in order if name in names), *(name for name in names if name not in order)]
        self._split = split
        self._nested = nested
        self._say = say
        self._detailed = detailed

    def run(self, mode: str) -> Triple:
        """What passes, what fails, and the elements that only the latter has; equal ends for ``-``.

        Args:
            mode: ``"-"`` to minimize what fails, ``"+"`` to maximize what passes, ``"+-"`` for both.

        Raises:
            NotReproducedError: the call, or the answer, does not do the same again.
            DoesNotPassError: for ``"+"`` and ``"+-"``, nothing passes.
        """
        try:
            self.check()
        except Stopped as stopped:
            self.stopped_by = stopped.by
            if "+" in mode:
                self._refuse(self._call.arguments)
            return self._call.arguments, self._call.arguments, {}
        found = self._minimized() if mode == "-" else self._between(mode)
        self._prove(found, mode)
        return found

    def check(self) -> None:
        """Check that the call fails again in the same way.

        Raises:
            NotReproducedError: it does not.
        """
        tests = self._tester.tests
        failed = self._tester.test(self._call.arguments) is Outcome.FAIL
        if not failed or (self._tester.tests > tests and self._tester.depends_on_the_past()):
            raise self._not_reproduced("The call", self._call.arguments)

    def _minimized(self) -> Triple:
        """In turns, as the book does it, then inside of elements, until nothing is left out any more."""
        left, again = self._call.arguments, True
        if self._nested:
            long = [name for name, value in left.items() if is_text(value) and len(value) > _LONG_TEXT]
            left, _ = self._reduced(left, lambda left: blocks(left, 0, [name for name in self._names if name in long]))
            left, _ = self._reduced(left, lambda left: aligned(left, self._names, large=True))
        while again and self.stopped_by is None:
            left = self._in_turns(left)
            left, again = self._reduced(left, self._finer) if self._nested else (left, False)
            if self._nested and not again:
                left, again = self._reduced(left, self._simpler)
        self._say(f"Minimal failing call: {self._call.source(left)}")
        return left, left, {}

    def _reduced(
        self, left: Arguments, spaces: Callable[[Callable[[], Arguments]], Iterator[Space]]
    ) -> tuple[Arguments, bool]:
        """What some searches leave of arguments, one after the other, and whether it is less."""
        less = False
        for space in spaces(lambda: left):  # noqa: B023 - what is left by then is meant
            if self.stopped_by is not None:
                break
            c_fail = self.search(space, "-")[1]
            if c_fail != space.all:
                left, less = space.build(c_fail), True
        return left, less

    def _finer(self, left: Callable[[], Arguments]) -> Iterator[Space]:
        """What is inside of elements, lines and brackets in texts, levels of nesting, places of sequences alike."""
        yield from levels_below(left, self._names)
        for depth in range(DEEPEST):
            yield from blocks(left, depth, self._names)
            if not Level(left(), depth, self._names).has_containers:
                break
        yield from hoists(left, self._names, self._call.spread)
        yield from aligned(left, self._names)

    def _simpler(self, left: Callable[[], Arguments]) -> Iterator[Space]:
        """What makes the rest simpler; numbers only where a call that never ends for them can be ended."""
        return simpler(left, self._names, self._call.optional, numbers=self._tester.in_child)

    def _in_turns(self, left: Arguments) -> Arguments:
        pending = list(self._names)
        while pending and self.stopped_by is None:
            name = pending.pop(0)
            space = Level(left, 0, [name])
            if not space.all:
                continue
            self._say(f"Argument {name}:")
            c_fail = self.search(space, "-")[1]
            if c_fail != space.all:
                left = space.build(c_fail)
                pending = [other for other in self._names if other != name]
                self._say(f"{name} is now {source_of(left[name])}")
        return left

    def _between(self, mode: str) -> Triple:
        """All arguments together: their results would not fit together otherwise."""
        space: Space = Level(self._call.arguments, 0, self._names)
        c_pass, c_fail = self.search(space, mode)
        passing, failing, difference = (space.build(deltas) for deltas in (c_pass, c_fail, c_fail - c_pass))
        nothing_passes = c_pass == EMPTY and not self._base_passes
        if self._nested and self.stopped_by is None:
            parts = Parts(self._call.arguments, self._names)
            top = Additions(parts, EMPTY, map(parts.whole, parts.top))
            kept_pass, kept_fail = top.kept(c_pass), top.kept(c_fail)
            if nothing_passes:
                kept_pass, kept_fail = self._above_a_frame(parts, mode)
                nothing_passes = not kept_pass
            if nothing_passes:
                pass
            elif mode == "+":
                kept_pass = self._filled(parts, kept_pass)
            else:
                kept_pass, kept_fail = self._narrowed(parts, kept_pass, kept_fail)
            difference = parts.build(parts.with_surroundings(kept_fail - kept_pass))
            passing, failing = parts.build(kept_pass), parts.build(kept_fail)
        if nothing_passes:
            self._refuse(space.build(EMPTY))
        self._say(f"Maximal passing call: {self._call.source(passing)}")
        if "-" in mode:
            self._say(f"Minimal failing call: {self._call.source(failing)}")
        return passing, failing, difference

    def _refuse(self, arguments: Arguments) -> NoReturn:
        """Say that nothing passes."""
        if self.stopped_by is not None:
            raise DoesNotPassError(
                "The search was stopped before it found any arguments with which the call passes.",
                "Allow it more tests or more time.",
            )
        self._tester.run(arguments)  # for its ending
        raise DoesNotPassError(
            f"{self._call.source(arguments)[:_SHOWN]} does not pass: {self._tester.last.words}.",
            "Without anything that passes there is no difference; `min_args()` needs none.",
        )

    def _above_a_frame(self, parts: Parts, mode: str) -> tuple[IntervalSet, IntervalSet]:
        """Search between all parts and the outer ones without their inside; the outermost are tried first.

        Args:
            parts: all parts.
            mode: as for :meth:`run`.

        Returns:
            What passes and what fails; both empty if no such frame passes.
        """
        frame, level = EMPTY, parts.top
        while inside := [one for part in level for one in parts.inside(part)]:
            frame |= IntervalSet.of(level)
            space = Additions(parts, frame, map(parts.whole, inside))
            if self._tester.run(space.build(EMPTY)) is Outcome.PASS:
                c_pass, c_fail = self.search(space, mode)
                return space.kept(c_pass), space.kept(c_fail)
            level = inside
        return EMPTY, EMPTY

    def _filled(self, parts: Parts, kept: IntervalSet) -> IntervalSet:
        """Add parts that were left out: as a whole, or without what is inside them, which is added afterwards.

        Args:
            parts: all parts.
            kept: those that pass.
        """
        forms, before = [parts.emptied], None  # whole elements were tried already
        while kept != before:
            before = kept
            for form in forms:
                added = [form(part) for part in parts.addable(kept) if form == parts.whole or parts.has_inside(part)]
                space = Additions(parts, kept, added)
                outcome = self._outcome(space) if added else Outcome.PASS
                if self.stopped_by is not None:
                    return kept
                kept = space.kept(space.all if outcome is Outcome.PASS else self.search(space, "+")[0])
            forms = [parts.whole, parts.emptied]
        return kept

    def _narrowed(self, parts: Parts, passing: IntervalSet, failing: IntervalSet) -> tuple[IntervalSet, IntervalSet]:
        """Go on inside the parts that make the difference, as far as these pass or fail without their inside.

        Args:
            parts: all parts.
            passing: those that pass.
            failing: those that fail, among them the former.
        """
        while self.stopped_by is None:
            differing = [part for part in parts.addable(passing) if part in failing]
            empty = Additions(parts, passing, map(parts.emptied, differing))
            inside = [parts.whole(one) for part in differing for one in parts.inside(part)]
            if not inside:
                break
            outcome = self._outcome(empty)
            if outcome is Outcome.UNRESOLVED or self.stopped_by is not None:
                break
            space = empty if outcome is Outcome.FAIL else Additions(parts, empty.kept(empty.all), inside)
            c_pass, c_fail = self.search(space, "+-")
            passing, failing = space.kept(c_pass), space.kept(c_fail)
            if outcome is Outcome.FAIL:
                break
        return passing, failing

    def _outcome(self, space: Space) -> Outcome:
        """The outcome with all parts; UNRESOLVED if the search is stopped."""
        try:
            return self._tester.test(space.build(space.all))
        except Stopped as stopped:
            self.stopped_by = stopped.by
            return Outcome.UNRESOLVED

    def search(self, space: Space, mode: str, *, check_whole: bool = False) -> tuple[IntervalSet, IntervalSet]:
        """Search some parts of the arguments.

        Args:
            space: the parts.
            mode: as for :meth:`run`.
            check_whole: check that the call fails with all of them.

        Returns:
            The configurations that pass and fail; the best so far if the search is stopped.

        Raises:
            ArgumentError: there is no such mode or split rule.
            NotReproducedError, DoesNotPassError: as for :meth:`run`.
        """
        try:
            algorithm = BookDD(EMPTY, space.all, mode=mode, split=self._split)
        except ValueError as error:
            raise ArgumentError(str(error), "") from None
        search = Search(algorithm, known={EMPTY: Outcome.PASS, space.all: Outcome.FAIL}, statistics=False)
        test = self._tester.test
        try:
            # The empty arguments first, as in the book.
            first = test(space.build(EMPTY))
            self._base_passes = first is Outcome.PASS
            if first is Outcome.FAIL:
                if "+" in mode:
                    raise DoesNotPassError(
                        f"{self._call.source(space.build(EMPTY))[:_SHOWN]} fails, too: {self._tester.last.words}.",
                        "So nothing in the arguments makes the difference; see `min_args()`.",
                    )
                return EMPTY, EMPTY
            if check_whole and test(space.arguments) is not Outcome.FAIL:
                raise self._not_reproduced("The call", space.arguments)
            while (asked := search.ask()) is not None:
                outcome = test(space.build(asked))
                search.tell(asked, outcome)
                if self._detailed:
                    self._say(f"  {search.deltas_left} of {space.all.count} {space.unit}s left")
        except Stopped as stopped:
            self.stopped_by = stopped.by
        return search.best

    def _prove(self, found: Triple, mode: str) -> None:
        """Make the calls of the answer again; neither counted nor from the cache."""
        ends = [(found[0], Outcome.PASS)] * ("+" in mode) + [(found[1], Outcome.FAIL)] * ("-" in mode)
        if self.stopped_by is not None:
            return
        try:
            for arguments, outcome in ends * _PROOF_RUNS:
                if self._tester.run(arguments) is not outcome:
                    raise self._not_reproduced("The answer", arguments)
        except KeyboardInterrupt:
            self.stopped_by = "interrupt"

    def _not_reproduced(self, subject: str, arguments: Mapping[str, Any]) -> NotReproducedError:
        last, call = self._tester.last, self._call
        hint = (
            "Something other than its arguments matters, such as time, randomness, or what earlier calls left behind."
        )
        if call.shared:
            hint = f"It may be {' or '.join(sorted(call.shared))}, which cannot be copied, so that all calls share it."
        elif not self._tester.in_child:
            hint += " With `child=True`, each call is made in a process of its own."
        source = self._call.source(arguments)
        shown = source if len(source) <= _SHOWN else f"{source[: _SHOWN - 3]}..."
        wanted = self._tester.wanted.words
        return NotReproducedError(
            f"{subject} {shown} does not do the same again: {last.words}, instead of {wanted}.", hint
        )
