"""``DeltaDebugger``: the smallest arguments that make a call fail, the largest that do not, and their difference.

Rules of this module:

* The interface is that of the class of the same name in the Debugging Book. So is the order of tests, given the order
  of its sets (``split``, ``order``). What the book leaves open is decided in favour of the user: the call
  that fails is looked at instead of the first one; several arguments are maximized together, so that the result really
  passes; and what is inside of elements is reduced, too.
* Nothing is searched before it is asked for, and nothing is searched twice.
* However a search ends, by a limit or Ctrl-C, the best result so far is the answer, and ``stopped_by`` says so.

Source: A. Zeller, the Debugging Book, chapter "Reducing Failure-Inducing Inputs".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from replay_dd.call.collector import Collector
from replay_dd.call.failure import Ending, Rule
from replay_dd.call.in_child import described, finish, forked
from replay_dd.call.made_call import Call
from replay_dd.call.notebook import STOPPED_BY, TriedCall, in_html
from replay_dd.call.searches import Arguments, ArgumentSearch, Triple
from replay_dd.call.spaces import Level
from replay_dd.call.tester import Tester
from replay_dd.dd.split import Splitter
from replay_dd.errors.program import DoesNotFailError
from replay_dd.errors.user import ArgumentError
from replay_dd.outcome import Outcome
from replay_dd.trust.printable import html_text

_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, dict)
_NO_CALL = (
    "Use it as `with DeltaDebugger() as dd: function(arguments)`, or call `dd.collect(function, arguments)` first."
)


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
        order: the names of arguments in the order in which they are minimized; the rest comes after them.
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
        if isinstance(order, str):
            raise ArgumentError(f"order is {order!r}", f"Give a list of names: `order=[{order!r}]`.")
        for name, limit in (("max_tests", max_tests), ("time_budget_s", time_budget_s), ("time_limit_s", time_limit_s)):
            if limit is not None and (not isinstance(limit, int | float) or not limit >= 0):
                raise ArgumentError(f"{name} is {limit!r}", "Give a number that is not negative, or None for no limit.")
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
        if error is None:
            raise DoesNotFailError(
                "The block did not raise an exception.", "Call the function with arguments with which it fails."
            )
        if not isinstance(error, Exception | SystemExit):
            return False  # Ctrl-C, and what pytest or asyncio steer with
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
        call.writes_arrays = True
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
        call.writes_arrays = False
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
            print(f"Collected {self.format_call()}: {self.format_exception()}")

    # What was collected.

    def args(self) -> Arguments:
        """The arguments of the collected call, by name."""
        return dict(self._tester.call.arguments)

    @property
    def reducible(self) -> list[str]:
        """The names of the arguments that may be reduced: all but the object of a method, unless it is a table."""
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
        self._searches().check()

    # Searches.

    def min_args(self) -> Arguments:
        """Arguments with which the call still fails, and none of whose parts can be left out.

        Raises:
            NotReproducedError: the call does not fail in the same way when it is made again.
        """
        return self._result("-")[1]

    def max_args(self) -> Arguments:
        """Arguments with which the call passes, and to which no element can be added without making it stop passing.

        With ``nested``, the same is true of what is inside the elements.

        Raises:
            DoesNotPassError: it does not pass with empty arguments, nor with any others that were tried.
            NotReproducedError: the call does not fail in the same way when it is made again.
        """
        return self._result("+")[0]

    def min_arg_diff(self) -> Triple:
        """Arguments that pass, arguments that fail, and the elements that only the latter have; errors as above."""
        return self._result("+-")

    def min_string(self, name: str | None = None) -> str:
        """The text to which an argument was minimized.

        Args:
            name: of the argument; by default the only text.

        Raises:
            ArgumentError: it is not a text, or there is not exactly one.
        """
        texts = [key for key, value in self.args().items() if isinstance(value, str)]
        wanted = texts if name is None else [key for key in texts if key == name]
        if len(wanted) != 1:
            told = f"{len(texts)} arguments are texts" if name is None else f"no argument {name!r} is a text"
            named = f"Name one of: {', '.join(texts)}. " if texts else ""
            raise ArgumentError(told, f"{named}`min_args()` reduces arguments of all kinds.")
        return str(self.min_args()[wanted[0]])

    def dd(self, var: str, fail_args: Mapping[str, Any], *, mode: str = "-") -> tuple[Any, Any, Any]:
        """Search one argument while the others stay as they are.

        Args:
            var: its name.
            fail_args: arguments with which the call fails.
            mode: ``"-"`` to minimize what fails, ``"+"`` to maximize what passes, ``"+-"`` for both.

        Returns:
            What passes, what fails, and the difference, as values of the argument.

        Raises:
            ArgumentError: there is no such argument, or no such mode.
            DoesNotPassError: for ``"+"`` and ``"+-"``, the call fails even if the argument is empty.
        """
        if var not in fail_args:
            raise ArgumentError(f"there is no argument {var!r}", f"There are: {', '.join(fail_args)}.")
        space = Level(fail_args, 0, [var])
        c_pass, c_fail = self._searches().search(space, mode, check_whole=True)
        built = [space.build(deltas)[var] for deltas in (c_pass, c_fail, c_fail - c_pass)]
        return built[0], built[1], built[2]

    def reduce_arg(self, var: str, args: Mapping[str, Any]) -> Any:
        """The minimal value of one argument."""
        return self.dd(var, args)[1]

    def __repr__(self) -> str:
        """The minimized call as source; the search takes place now, if it has not yet."""
        if self._found is None:
            return "<DeltaDebugger without a call>"
        source = self.format_call(self.min_args())
        if self.stopped_by is not None:
            source += f"  # stopped by {STOPPED_BY[self.stopped_by]}"
        if self._found.call.shared:
            source += f"  # shared by all calls, as it cannot be copied: {', '.join(sorted(self._found.call.shared))}"
        return source

    def _repr_html_(self) -> str:
        """The HTML for a notebook: the minimized call, the failure, the cost, and the tests in a collapsed section."""
        if self._found is None:
            return html_text(repr(self))
        minimal = self.min_args()
        rows = (
            ("call", self.format_call()),
            ("minimal", self.format_call(minimal)),
            ("failure", self._found.wanted.words),
        )
        return "\n".join(in_html(rows, self.log_tests, self.stopped_by))

    # Inside.

    @property
    def _tester(self) -> Tester:
        if self._found is None:
            raise ArgumentError("no call was collected", _NO_CALL)
        return self._found

    def _searches(self) -> ArgumentSearch:
        return ArgumentSearch(
            self._tester,
            order=self._order,
            split=self._split,
            nested=self._nested,
            say=print if self.log else lambda line: None,
            detailed=self.log > 1,
        )

    def _result(self, mode: str) -> Triple:
        if mode not in self._results:
            tester = self._tester
            searches = self._searches()
            self.reset()
            tester.limit(self._max_tests, self._time_budget_s)
            try:
                found = searches.run(mode)
            finally:
                tester.limit(None, None)
            self._results[mode] = found, searches.stopped_by
        triple, self.stopped_by = self._results[mode]
        return triple

    def _on_test(self, number: int, arguments: Mapping[str, Any], outcome: Outcome, ending: Ending) -> None:
        size = sum(len(value) for value in arguments.values() if isinstance(value, _SIZED))
        self.log_tests.append(TriedCall(number, size, outcome, ending.words))
        if self.log:
            detail = f" ({ending.told})" if ending.failed else ""
            print(f"Test #{number} {self.format_call(arguments)}: {outcome.value}{detail}")
