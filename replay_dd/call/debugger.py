"""``DeltaDebugger``: the smallest arguments that make a call fail, the largest that do not, and their difference.

Rules of this module:

* The interface is that of the class of the same name in the Debugging Book. So is the order of tests, given the order
  of its sets (``split``, ``order``). What the book leaves open is decided in favour of the user: the call
  that fails is looked at instead of the first one; several arguments are maximised together, so that the result really
  passes; and what is inside of elements is reduced, too.
* Nothing is searched before it is asked for, and nothing is searched twice.
* However a search ends, by a limit or Ctrl-C, the best result so far is the answer, and ``stopped_by`` says so.

Source: A. Zeller, the Debugging Book, chapter "Reducing Failure-Inducing Inputs".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from replay_dd.call.collector import Collector
from replay_dd.call.failure import Ending, Rule
from replay_dd.call.in_child import described, finish, forked
from replay_dd.call.made_call import Call
from replay_dd.call.source import source_of
from replay_dd.call.spaces import Level, Space, levels_below
from replay_dd.call.tester import Stopped, Tester
from replay_dd.dd import EMPTY, BookDD, IntervalSet, Search
from replay_dd.dd.split import Splitter
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import ArgumentError
from replay_dd.outcome import Outcome
from replay_dd.trust.printable import html_text

Arguments = dict[str, Any]
Triple = tuple[Arguments, Arguments, Arguments]
_PROOF_RUNS = 2
_SHOWN_TESTS = 200
_SHOWN_CHARACTERS = 2000
_STOPPED_BY = {"tests": "the limit on tests", "time": "the time budget", "interrupt": "Ctrl-C"}
_NO_CALL = (
    "Use it as `with DeltaDebugger() as dd: function(arguments)`, or call `dd.collect(function, arguments)` first."
)


class TriedCall(NamedTuple):
    """One test.

    Attributes:
        number: which, from 1.
        size: how many elements the arguments had.
        outcome: its outcome.
        words: how the call ended.
    """

    number: int
    size: int
    outcome: Outcome
    words: str


class DeltaDebugger:
    """Finds the smallest arguments with which a call fails in the same way.

    As a context manager, it collects the call of the block that fails, and swallows its exception::

        with DeltaDebugger() as dd:
            function(arguments)
        print(dd)

    Args:
        log: 1 (or True) to print each test, 2 to print what is left after it, too.
        failure: what counts as the failure: a type of exception, or a regular expression for ``type: text``. By default
            the same exception: its type, its place, and its text without what depends on the arguments.
        order: the names of arguments in the order in which they are minimised; the rest comes after them.
        split: how differences are split: a rule's name or a splitter; the default is the book's.
        nested: reduce what is inside of elements, too.
        child: make each call in a process of its own: calls that hang, crash, or change something do no harm.
        time_limit_s: seconds after which a call hangs; only with ``child``, where the default is 10.
        max_tests: stop after so many tests with the best result so far.
        time_budget_s: stop after so many seconds with the best result so far.

    Attributes:
        stopped_by: what ended the last search early: ``"tests"``, ``"time"``, ``"interrupt"``; otherwise None.
        log_tests: every test of the last search.

    Raises:
        ArgumentError: the call cannot be repeated, or an option is wrong.
        DoesNotFailError: the call does not fail.
    """

    def __init__(
        self,
        *,
        log: bool | int = False,
        failure: Rule = None,
        order: Sequence[str] = (),
        split: str | Splitter = "front",
        nested: bool = True,
        child: bool = False,
        time_limit_s: float | None = None,
        max_tests: int | None = None,
        time_budget_s: float | None = None,
    ) -> None:
        if time_limit_s is not None and not child:
            raise ArgumentError("only calls in child processes can have a time limit", "Add `child=True`.")
        self.log = log
        self.stopped_by: str | None = None
        self.log_tests: list[TriedCall] = []
        self._failure = failure
        self._order = tuple(order)
        self._split = split
        self._nested = nested
        self._child = child
        self._time_limit_s = 10.0 if child and time_limit_s is None else time_limit_s
        self._max_tests = max_tests
        self._time_budget_s = time_budget_s
        self._collector: Collector | None = None
        self._found: Tester | None = None
        self._exception: BaseException | None = None
        self._results: dict[str, tuple[Triple, str | None]] = {}

    # Collecting.

    def __enter__(self) -> DeltaDebugger:
        self._collector = Collector(sys._getframe(1))
        self._collector.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        collector, self._collector = self._collector, None
        assert collector is not None
        collector.stop()
        if isinstance(error, KeyboardInterrupt):
            return False
        if error is None:
            raise DoesNotFailError(
                "The block did not raise an exception.", "Call the function with arguments with which it fails."
            )
        call = collector.call_of(traceback)
        if call is None:
            error.add_note(
                "replay-dd: this exception did not come out of a call of a Python function, so there are no arguments "
                "to reduce. A function written in C can be given to `DeltaDebugger().collect(function, arguments)`."
            )
            return False
        self.take(call, Ending.of(described(error)), error)
        return True

    def collect(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> DeltaDebugger:
        """Make a call, which must fail, and collect it; works for functions written in C and coroutines, too.

        Raises:
            DoesNotFailError: it does not fail.
            ArgumentError: it cannot be called like that, or not repeatedly.
        """
        call = Call(function, arguments, keywords)
        error: BaseException | None = None
        if self._child:
            told = forked(call.prepare(call.arguments), self._time_limit_s)
        else:
            try:
                finish(call.prepare(call.arguments)())
                told = {"end": "returned"}
            except KeyboardInterrupt:
                raise
            except BaseException as raised:
                error, told = raised, described(raised)
        ending = Ending.of(told)
        if not ending.failed:
            raise DoesNotFailError(
                f"{call.source(call.arguments)[:200]} does not fail: it returns.",
                "Give arguments with which it fails.",
            )
        self.take(call, ending, error)
        return self

    def take(self, call: Call, ending: Ending, error: BaseException | None) -> None:
        """Take a call that was made elsewhere, and failed.

        Args:
            call: the call.
            ending: how it ended.
            error: what it raised, if that is known.

        Raises:
            ArgumentError: ``order`` names an argument that there is not.
            DoesNotFailError: it is not the failure that was asked for.
        """
        unknown = [name for name in self._order if name not in call.arguments]
        if unknown:
            raise ArgumentError(
                f"{call.name}() has no argument {unknown[0]!r}", f"It has: {', '.join(call.arguments)}."
            )
        self._exception = error
        self._results = {}
        self._found = Tester(call, ending, rule=self._failure, child=self._child, time_limit_s=self._time_limit_s)
        self._found.on_test = self._on_test
        if self.log:
            print(f"Observed {self.format_call()} raising {self.format_exception()}")

    # What was collected.

    def args(self) -> Arguments:
        """The arguments of the collected call, by name."""
        return dict(self._tester.call.arguments)

    @property
    def reducible(self) -> list[str]:
        """The names of the arguments that may be reduced: all but the object that a method belongs to."""
        return self._tester.call.reducible

    def function(self) -> Callable[..., Any]:
        """The function that was called."""
        return self._tester.call.function

    def exception(self) -> BaseException | None:
        """What it raised; None if that happened in a child process."""
        return self._exception

    def call(self, new_args: Mapping[str, Any] | None = None) -> Any:
        """Make the collected call again, with other values for some arguments; returns and raises what it does."""
        return self._tester.call.prepare({**self.args(), **(new_args or {})})()

    def format_call(self, args: Mapping[str, Any] | None = None) -> str:
        """The call as source, with the collected arguments or others."""
        return self._tester.call.source(self.args() if args is None else args)

    def format_exception(self, exc: BaseException | None = None) -> str:
        """The type and text of an exception; by default of the collected one."""
        ending = self._tester.wanted if exc is None else Ending.of(described(exc))
        return ending.told

    # Tests.

    @property
    def tests(self) -> int:
        """How many tests the last search has run."""
        return self._tester.tests

    def reset(self) -> None:
        """Forget all tests."""
        self._tester.forget()
        self.log_tests = []

    def run(self, args: Mapping[str, Any]) -> Outcome:
        """PASS if the call returns with these arguments, FAIL if it fails in the same way, otherwise UNRESOLVED."""
        return self._tester.run({**self.args(), **args})

    def test(self, args: Mapping[str, Any]) -> Outcome:
        """Like :meth:`run`, but counted, logged, and not repeated for the same arguments."""
        return self._tester.test({**self.args(), **args})

    def check_reproducibility(self) -> None:
        """Check that the call fails again in the same way; forgets earlier tests.

        Raises:
            NotReproducedError: it fails in another way, or not at all.
        """
        self.reset()
        if self.test(self.args()) is not Outcome.FAIL:
            raise self._not_reproduced("The call", self.args())

    # Searches.

    def min_args(self) -> Arguments:
        """Arguments with which the call still fails, and none of whose parts can be left out.

        Raises:
            NotReproducedError: the call does not fail in the same way when it is made again.
        """
        return self._result("-")[1]

    def max_args(self) -> Arguments:
        """Arguments with which the call passes, and to which no element can be added without making it stop passing.

        Raises:
            DoesNotPassError: it does not pass with empty arguments, nor with any others that were tried.
            NotReproducedError: the call does not fail in the same way when it is made again.
        """
        return self._result("+")[0]

    def min_arg_diff(self) -> Triple:
        """Arguments that pass, arguments that fail, and the elements that only the latter have; errors as above."""
        return self._result("+-")

    def min_string(self, name: str | None = None) -> str:
        """The text to which an argument was minimised.

        Args:
            name: of the argument; by default the only text.

        Raises:
            ArgumentError: it is no text, or there are several.
        """
        texts = [key for key, value in self.args().items() if isinstance(value, str) and name in (None, key)]
        if len(texts) != 1:
            raise ArgumentError(
                f"{len(texts)} arguments are texts", f"Name one of: {', '.join(self.args())}; or use `min_args()`."
            )
        return str(self.min_args()[texts[0]])

    def dd(self, var: str, fail_args: Mapping[str, Any], *, mode: str = "-") -> tuple[Any, Any, Any]:
        """Search one argument while the others stay as they are.

        Args:
            var: its name.
            fail_args: arguments with which the call fails.
            mode: ``"-"`` to minimise what fails, ``"+"`` to maximise what passes, ``"+-"`` for both.

        Returns:
            What passes, what fails, and the difference, as values of the argument.

        Raises:
            ArgumentError: there is no such argument, or no such mode.
            DoesNotPassError: for ``"+"`` and ``"+-"``, the call fails even if the argument is empty.
        """
        if var not in fail_args:
            raise ArgumentError(f"there is no argument {var!r}", f"There are: {', '.join(fail_args)}.")
        space = Level(fail_args, 0, [var])
        c_pass, c_fail = self._search(space, mode, check_whole=True)
        built = [space.build(deltas)[var] for deltas in (c_pass, c_fail, c_fail - c_pass)]
        return built[0], built[1], built[2]

    def reduce_arg(self, var: str, args: Mapping[str, Any]) -> Any:
        """The minimal value of one argument."""
        return self.dd(var, args)[1]

    def __repr__(self) -> str:
        """The minimised call as source; the search takes place now, if it has not yet."""
        if self._found is None:
            return "<DeltaDebugger without a call>"
        source = self.format_call(self.min_args())
        return source if self.stopped_by is None else f"{source}  # stopped by {_STOPPED_BY[self.stopped_by]}"

    def _repr_html_(self) -> str:
        """The HTML for a notebook: the minimised call, the failure, the cost, and the tests in a collapsed section."""
        return "\n".join(self._html())

    # Inside.

    @property
    def _tester(self) -> Tester:
        if self._found is None:
            raise ArgumentError("no call was collected", _NO_CALL)
        return self._found

    def _result(self, mode: str) -> Triple:
        if mode not in self._results:
            tester = self._tester
            self.stopped_by = None
            tester.limit(self._max_tests, self._time_budget_s)
            try:
                found = self._searched(mode)
            finally:
                tester.limit(None, None)
            self._results[mode] = found, self.stopped_by
        triple, self.stopped_by = self._results[mode]
        return triple

    def _searched(self, mode: str) -> Triple:
        try:
            self.check_reproducibility()
        except Stopped as stopped:
            self.stopped_by = stopped.by
            return self.args(), self.args(), {}
        found = self._minimised() if mode == "-" else self._between(mode)
        self._prove(found, mode)
        return found

    def _minimised(self) -> Triple:
        """In turns, as the book does it, then inside of elements, until nothing is left out any more."""
        names = self.reducible
        left, again = self.args(), True
        while again and self.stopped_by is None:
            left = self._in_turns(left, names)
            again = False
            for space in levels_below(lambda: left, names) if self._nested else ():  # noqa: B023 - it is used up here
                c_fail = self._search(space, "-")[1]
                if c_fail != space.all:
                    left, again = space.build(c_fail), True
                if self.stopped_by is not None:
                    break
        if self.log:
            print(f"Minimized failing call to {self.format_call(left)}")
        return left, left, {}

    def _in_turns(self, left: Arguments, names: Sequence[str]) -> Arguments:
        turns = [*(name for name in self._order if name in names), *(name for name in names if name not in self._order)]
        pending = list(turns)
        while pending and self.stopped_by is None:
            name = pending.pop(0)
            space = Level(left, 0, [name])
            if not space.all:
                continue
            if self.log:
                print(f"Processing {name}...")
            c_fail = self._search(space, "-")[1]
            if c_fail != space.all:
                left = space.build(c_fail)
                pending = [other for other in turns if other != name]
                if self.log:
                    print(f"Minimized {name} to {source_of(left[name])}")
        return left

    def _between(self, mode: str) -> Triple:
        """All arguments together: their results would not fit together otherwise."""
        space = Level(self.args(), 0, self.reducible)
        c_pass, c_fail = self._search(space, mode)
        passing, failing, difference = (space.build(deltas) for deltas in (c_pass, c_fail, c_fail - c_pass))
        if c_pass == EMPTY and self.stopped_by is None and self.test(passing) is not Outcome.PASS:
            raise DoesNotPassError(
                f"{self.format_call(passing)[:200]} does not pass: {self._tester.last.words}.",
                "Without anything that passes there is no difference; `min_args()` needs none.",
            )
        if self.log:
            print(f"Maximized passing call to {self.format_call(passing)}")
            if "-" in mode:
                print(f"Minimized failing call to {self.format_call(failing)}")
        return passing, failing, difference

    def _search(self, space: Space, mode: str, *, check_whole: bool = False) -> tuple[IntervalSet, IntervalSet]:
        """What passes and what fails, as 1-minimal as the mode says; the best so far if the search is stopped."""
        try:
            algorithm = BookDD(EMPTY, space.all, mode=mode, split=self._split)
        except ValueError as error:
            raise ArgumentError(str(error), "") from None
        search = Search(algorithm, known={EMPTY: Outcome.PASS, space.all: Outcome.FAIL}, statistics=False)
        test = self._tester.test
        try:
            # The empty arguments first, as in the book.
            if test(space.build(EMPTY)) is Outcome.FAIL:
                if "+" in mode:
                    raise DoesNotPassError(
                        f"{self.format_call(space.build(EMPTY))[:200]} fails, too: {self._tester.last.words}.",
                        "Then nothing of the arguments makes the difference; see `min_args()`.",
                    )
                return EMPTY, EMPTY
            if check_whole and test(space.arguments) is not Outcome.FAIL:
                raise self._not_reproduced("The call", space.arguments)
            while (asked := search.ask()) is not None:
                outcome = test(space.build(asked))
                search.tell(asked, outcome)
                if self.log > 1 and outcome is not Outcome.UNRESOLVED:
                    print(f"  {search.deltas_left} of {space.all.count} {space.unit}s left")
        except Stopped as stopped:
            self.stopped_by = stopped.by
        return search.best

    def _prove(self, found: Triple, mode: str) -> None:
        """Make the calls of the answer again; neither counted nor from the cache."""
        ends = [(found[0], Outcome.PASS)] * ("+" in mode) + [(found[1], Outcome.FAIL)] * ("-" in mode)
        for arguments, outcome in ends * (_PROOF_RUNS if self.stopped_by is None else 0):
            if self._tester.run(arguments) is not outcome:
                raise self._not_reproduced("The answer", arguments)

    def _not_reproduced(self, subject: str, arguments: Mapping[str, Any]) -> NotReproducedError:
        last, call = self._tester.last, self._tester.call
        hint = (
            "Something other than its arguments matters, such as time, randomness, or what earlier calls left behind."
        )
        if call.shared:
            hint = f"It may be {' or '.join(sorted(call.shared))}, which cannot be copied, so that all calls share it."
        elif not self._child:
            hint += " With `child=True`, each call is made in a process of its own."
        source = self.format_call(arguments)
        return NotReproducedError(
            f"{subject} {source if len(source) <= 200 else source[:197] + '...'} does not do the same again: "
            f"{last.words}, instead of {self._tester.wanted.words}.",
            hint,
        )

    def _on_test(self, number: int, arguments: Mapping[str, Any], outcome: Outcome, ending: Ending) -> None:
        size = Level(arguments, 0, self.reducible).all.count
        self.log_tests.append(TriedCall(number, size, outcome, ending.words))
        if self.log:
            detail = f" ({ending.told})" if ending.failed else ""
            print(f"Test #{number} {self.format_call(arguments)}: {outcome.value}{detail}")

    def _html(self) -> Iterator[str]:
        if self._found is None:
            yield html_text(repr(self))
            return
        minimal, failing = self.min_args(), self.args()
        rows = (
            ("call", self.format_call(failing)),
            ("minimal", self.format_call(minimal)),
            ("failure", self._tester.wanted.words),
        )
        yield "<table>"
        for name, text in rows:
            half = _SHOWN_CHARACTERS // 2
            shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:half]} ... {text[-half:]}"
            yield (
                f'<tr><th style="text-align:left;vertical-align:top">{name}</th><td style="text-align:left">'
                f'<pre style="white-space:pre-wrap;margin:0">{html_text(shown)}</pre></td></tr>'
            )
        yield "</table>"
        early = "" if self.stopped_by is None else f"; stopped early by {_STOPPED_BY[self.stopped_by]}"
        yield f"<details><summary>{len(self.log_tests)} tests{early}</summary><table>"
        yield "<tr><th>#</th><th>elements</th><th>outcome</th><th>ending</th></tr>"
        for test in self.log_tests[:_SHOWN_TESTS]:
            cells = (test.number, test.size, test.outcome.value, test.words)
            yield f"<tr>{''.join(f'<td>{html_text(str(cell))}</td>' for cell in cells)}</tr>"
        yield "</table>"
        if len(self.log_tests) > _SHOWN_TESTS:
            yield f"<p>{len(self.log_tests) - _SHOWN_TESTS} more are in <code>log_tests</code>.</p>"
        yield "</details>"
