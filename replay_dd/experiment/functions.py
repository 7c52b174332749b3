"""The scripting functions: from a test and a collection to an answer in one call.

Rules of this module:

* A function tests the two end points first, on the same workers as everything else, and refuses to search if they do
  not behave as claimed.
* It exposes all options of the algorithm, under the same names.
* The type of the collection determines the type of the answer. A ``range`` gives
  interval sets, and the difference of two cases (:class:`~replay_dd.dd.changes.Changes`) gives cases and changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import Executor
from difflib import get_close_matches
from typing import Any, TypedDict, TypeVar, Unpack, overload

from replay_dd.dd.adaptive import AdaptiveBisection
from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.bisection import PrefixBisection
from replay_dd.dd.changes import Change, Changes, Sliced
from replay_dd.dd.dd1999 import DD1999, DDPlus
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.isolate import DD
from replay_dd.dd.items import Items, NumberItems, items_of
from replay_dd.dd.minimize import DDMax, DDMin
from replay_dd.dd.search import Search, Step
from replay_dd.dd.split import Splitter
from replay_dd.errors.user import ArgumentError
from replay_dd.experiment.calls import Calls
from replay_dd.experiment.reduction import Reduction
from replay_dd.experiment.search import SearchResult, check_end_points, does_not_fail, run_search
from replay_dd.outcome import Outcome

T = TypeVar("T")
W = TypeVar("W", bound="AbstractSet[Any] | dict[Any, Any] | IntervalSet")

Test = Callable[[T], Outcome]
Numbers = Reduction[IntervalSet, IntervalSet]
Mixtures = Reduction[T, tuple[Change[T], ...]]
Alike = Reduction[T, T]


class RunOptions(TypedDict, total=False):
    """The keyword arguments of every scripting function.

    Attributes:
        monotone: assume that every subset of a passing configuration passes, and do not test it.
        predict: called like the test; it may answer ``UNRESOLVED`` without a test, or ``None`` for "test it".
        jobs: the number of parallel tests.
        executor: any ``concurrent.futures.Executor`` to run them on, instead of threads. One that uses other processes
            pickles the test and its cases. It is not shut down.
        max_tests: stop with the best result so far after this many tests.
        time_limit_s: stop with the best result so far before the first test after this many seconds.
        on_test: called with a record of each executed test.
    """

    monotone: bool
    predict: Callable[[Any], Outcome | None] | None
    jobs: int
    executor: Executor | None
    max_tests: int | None
    time_limit_s: float | None
    on_test: Callable[[Step], None] | None


class SplitOptions(RunOptions, total=False):
    """The keyword arguments of the functions that split configurations.

    Attributes:
        split: a split rule (``floor``, ``round``, ``front``, ``slices``) or a splitter.
    """

    split: str | Splitter


class DDOptions(SplitOptions, total=False):
    """The keyword arguments of :func:`dd`.

    Attributes:
        carry_offset: see :class:`~replay_dd.dd.isolate.DD`.
    """

    carry_offset: bool


class OrderOptions(SplitOptions, total=False):
    """The keyword arguments of :func:`ddmin` and :func:`ddmax`.

    Attributes:
        order: ``subsets-first``, ``complements-only`` or ``sweep``; see :class:`~replay_dd.dd.minimize.DDMin`.
    """

    order: str


# fmt: off
@overload
def dd(test: Test[T], pass_: Changes[T], **options: Unpack[DDOptions]) -> Mixtures[T]: ...
@overload
def dd(
    test: Test[IntervalSet], pass_: range | IntervalSet | None, fail: range, **options: Unpack[DDOptions]
) -> Numbers: ...
@overload
def dd(test: Test[W], pass_: W | None, fail: W, **options: Unpack[DDOptions]) -> Alike[W]: ...
@overload
def dd(test: Test[T], pass_: Sliced[T] | None, fail: Sliced[T], **options: Unpack[DDOptions]) -> Alike[T]: ...
# fmt: on
def dd(test: Test[Any], pass_: Any, fail: Any = None, **options: Any) -> Reduction[Any, Any]:
    """Isolate a 1-minimal difference between ``pass_``, which passes, and ``fail``, which fails.

    Args:
        test: called with a part of ``fail``, of the same kind: a string, bytes, a list, a tuple, a numpy array, a set
            or a dictionary; a list for any other sequence; an :class:`~replay_dd.dd.intervals.IntervalSet` for a
            range. Returns an outcome.
        pass_: what passes; contained in ``fail``, in the same order where it is a sequence. ``None`` stands for the
            empty case. If neither case contains the other, give their difference,
            :func:`~replay_dd.dd.changes.deltas_between`, in place of both.
        fail: what fails.
        **options: see :class:`DDOptions`, :class:`SplitOptions` and :class:`RunOptions`.

    Returns:
        The largest passing and the smallest failing case, and their difference.

    Raises:
        DoesNotPassError: ``pass_`` does not pass.
        DoesNotFailError: ``fail`` does not fail.
        PassNotContainedError: ``pass_`` is not contained in ``fail``.
        ArgumentError: an option is unknown, or a case cannot be split.
        NotAnOutcomeError, NotPicklableError, ExecutorBrokenError: see :func:`~replay_dd.experiment.search.run_search`.

    Source: see :class:`~replay_dd.dd.isolate.DD`.
    """
    chosen = _chosen("dd", options, DDOptions)
    items, c_pass = _ends("dd", pass_, fail)
    return _search(DD(c_pass, items.all, **chosen), items, test, options)


# fmt: off
@overload
def ddmin(test: Test[T], items: Changes[T], **options: Unpack[OrderOptions]) -> Mixtures[T]: ...
@overload
def ddmin(test: Test[IntervalSet], items: range, **options: Unpack[OrderOptions]) -> Numbers: ...
@overload
def ddmin(test: Test[W], items: W, **options: Unpack[OrderOptions]) -> Alike[W]: ...
@overload
def ddmin(test: Test[T], items: Sliced[T], **options: Unpack[OrderOptions]) -> Alike[T]: ...
# fmt: on
def ddmin(test: Test[Any], items: Any, **options: Any) -> Reduction[Any, Any]:
    """Simplify ``items`` to a 1-minimal case that still fails.

    Args:
        test: called with a part of ``items``, of the same kind (see :func:`dd`); returns an outcome.
        items: what fails; or the difference of two cases, to find the changes that suffice to make the first one fail.
        **options: see :class:`OrderOptions`, :class:`SplitOptions` and :class:`RunOptions`.

    Returns:
        The simplified case is ``failing``. If the empty case fails, that is the answer, as in the Debugging Book.

    Raises:
        DoesNotFailError: ``items`` do not fail.
        ArgumentError: an option is unknown, or ``items`` cannot be split.
        NotAnOutcomeError, NotPicklableError, ExecutorBrokenError: see :func:`~replay_dd.experiment.search.run_search`.

    Source: see :class:`~replay_dd.dd.minimize.DDMin`.
    """
    chosen = _chosen("ddmin", options, OrderOptions)
    deltas = items_of(items)
    return _search(DDMin(deltas.all, **chosen), deltas, test, options, simplifying=True)


# fmt: off
@overload
def ddmax(test: Test[T], pass_: Changes[T], **options: Unpack[OrderOptions]) -> Mixtures[T]: ...
@overload
def ddmax(
    test: Test[IntervalSet], pass_: range | IntervalSet | None, fail: range, **options: Unpack[OrderOptions]
) -> Numbers: ...
@overload
def ddmax(test: Test[W], pass_: W | None, fail: W, **options: Unpack[OrderOptions]) -> Alike[W]: ...
@overload
def ddmax(test: Test[T], pass_: Sliced[T] | None, fail: Sliced[T], **options: Unpack[OrderOptions]) -> Alike[T]: ...
# fmt: on
def ddmax(test: Test[Any], pass_: Any, fail: Any = None, **options: Any) -> Reduction[Any, Any]:
    """Enlarge ``pass_`` within ``fail``, until adding any single element makes it stop passing.

    Arguments and errors are those of :func:`dd`, options those of :func:`ddmin`; the enlarged case is ``passing``.

    Source: see :class:`~replay_dd.dd.minimize.DDMax`.
    """
    chosen = _chosen("ddmax", options, OrderOptions)
    items, c_pass = _ends("ddmax", pass_, fail)
    return _search(DDMax(c_pass, items.all, **chosen), items, test, options)


# fmt: off
@overload
def prefix_bisection(test: Test[T], items: Changes[T], **options: Unpack[RunOptions]) -> Mixtures[T]: ...
@overload
def prefix_bisection(test: Test[IntervalSet], items: range, **options: Unpack[RunOptions]) -> Numbers: ...
@overload
def prefix_bisection(test: Test[W], items: W, **options: Unpack[RunOptions]) -> Alike[W]: ...
@overload
def prefix_bisection(test: Test[T], items: Sliced[T], **options: Unpack[RunOptions]) -> Alike[T]: ...
# fmt: on
def prefix_bisection(test: Test[Any], items: Any, **options: Any) -> Reduction[Any, Any]:
    """Simplify ``items`` to a 1-minimal failing case by binary search; best if the problem is monotone.

    Arguments, result and errors are those of :func:`ddmin`; options are those of :class:`RunOptions`.

    Source: see :class:`~replay_dd.dd.bisection.PrefixBisection`.
    """
    _chosen("prefix_bisection", options, RunOptions)
    deltas = items_of(items)
    return _search(PrefixBisection(deltas.all), deltas, test, options, simplifying=True)


# fmt: off
@overload
def simplify(test: Test[T], items: Changes[T], **options: Unpack[RunOptions]) -> Mixtures[T]: ...
@overload
def simplify(test: Test[IntervalSet], items: range, **options: Unpack[RunOptions]) -> Numbers: ...
@overload
def simplify(test: Test[W], items: W, **options: Unpack[RunOptions]) -> Alike[W]: ...
@overload
def simplify(test: Test[T], items: Sliced[T], **options: Unpack[RunOptions]) -> Alike[T]: ...
# fmt: on
def simplify(test: Test[Any], items: Any, **options: Any) -> Reduction[Any, Any]:
    """Simplify ``items`` to a 1-minimal failing case, whether few or most of them are needed.

    Arguments, result and errors are those of :func:`ddmin`; options are those of :class:`RunOptions`.

    Source: see :class:`~replay_dd.dd.adaptive.AdaptiveBisection`.
    """
    _chosen("simplify", options, RunOptions)
    deltas = items_of(items)
    return _search(AdaptiveBisection(deltas.all), deltas, test, options, simplifying=True)


# fmt: off
@overload
def dd1999(test: Test[T], pass_: Changes[T], **options: Unpack[SplitOptions]) -> Mixtures[T]: ...
@overload
def dd1999(
    test: Test[IntervalSet], pass_: range | IntervalSet | None, fail: range, **options: Unpack[SplitOptions]
) -> Numbers: ...
@overload
def dd1999(test: Test[W], pass_: W | None, fail: W, **options: Unpack[SplitOptions]) -> Alike[W]: ...
@overload
def dd1999(test: Test[T], pass_: Sliced[T] | None, fail: Sliced[T], **options: Unpack[SplitOptions]) -> Alike[T]: ...
# fmt: on
def dd1999(test: Test[Any], pass_: Any, fail: Any = None, **options: Any) -> Reduction[Any, Any]:
    """Find the changes that make ``fail`` fail, with the dd algorithm of 1999; ``difference`` holds them.

    Arguments and errors are those of :func:`dd`, options those of :class:`SplitOptions` and :class:`RunOptions`.

    Source: see :class:`~replay_dd.dd.dd1999.DD1999`.
    """
    chosen = _chosen("dd1999", options, SplitOptions)
    items, c_pass = _ends("dd1999", pass_, fail)
    return _search(DD1999(c_pass, items.all, **chosen), items, test, options)


# fmt: off
@overload
def ddplus(test: Test[T], pass_: Changes[T], **options: Unpack[SplitOptions]) -> Mixtures[T]: ...
@overload
def ddplus(
    test: Test[IntervalSet], pass_: range | IntervalSet | None, fail: range, **options: Unpack[SplitOptions]
) -> Numbers: ...
@overload
def ddplus(test: Test[W], pass_: W | None, fail: W, **options: Unpack[SplitOptions]) -> Alike[W]: ...
@overload
def ddplus(test: Test[T], pass_: Sliced[T] | None, fail: Sliced[T], **options: Unpack[SplitOptions]) -> Alike[T]: ...
# fmt: on
def ddplus(test: Test[Any], pass_: Any, fail: Any = None, **options: Any) -> Reduction[Any, Any]:
    """Find the changes that make ``fail`` fail, with the dd+ algorithm of 1999; ``difference`` holds them.

    Arguments and errors are those of :func:`dd`, options those of :class:`SplitOptions` and :class:`RunOptions`.

    Source: see :class:`~replay_dd.dd.dd1999.DDPlus`.
    """
    chosen = _chosen("ddplus", options, SplitOptions)
    items, c_pass = _ends("ddplus", pass_, fail)
    return _search(DDPlus(c_pass, items.all, **chosen), items, test, options)


def _chosen(function: str, options: Mapping[str, Any], known: type) -> dict[str, Any]:
    """Those of the options that belong to the algorithm.

    Raises:
        ArgumentError: the function has no such option.
    """
    names: list[str] = sorted(known.__annotations__)
    for name in options:
        if name not in names:
            close = get_close_matches(name, names, 1)
            raise ArgumentError(
                f"{function}() has no option {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""),
                hint=f"It has: {', '.join(names)}.",
            )
    return {name: value for name, value in options.items() if name not in RunOptions.__annotations__}


def _ends(function: str, pass_: Any, fail: Any) -> tuple[Items[Any, Any], IntervalSet]:
    """The collection as deltas, and the passing configuration."""
    if isinstance(pass_, Changes) and fail is None:
        return pass_, EMPTY
    if fail is None:
        raise ArgumentError(
            f"{function}() was given no failing case",
            hint=f"Call {function}(test, passing, failing), or {function}(test, deltas_between(passing, failing)).",
        )
    if isinstance(pass_, Changes):
        raise ArgumentError(
            f"{function}() was given both a difference of two cases and a failing case",
            hint=f"Give the difference alone: {function}(test, deltas_between(passing, failing)).",
        )
    items = items_of(fail)
    return items, items.positions_of(pass_)


def _search(
    algorithm: Algorithm,
    items: Items[Any, Any],
    test: Test[Any],
    options: Mapping[str, Any],
    *,
    simplifying: bool = False,
) -> Reduction[Any, Any]:
    if not callable(test):
        raise ArgumentError(f"the test is {test!r}, which cannot be called", hint="The test comes first.")
    executor = options.get("executor")
    if executor is not None and not isinstance(executor, Executor):
        raise ArgumentError(
            f"executor is {executor!r}, which is not a concurrent.futures.Executor",
            hint="To use replay-dd's own threads, omit it and pass jobs=.",
        )
    prepare = None if isinstance(items, NumberItems) else items.build
    run = Calls(test, executor, prepare).run
    if simplifying:
        known = _simplifiable(run, items.all)
        if known[EMPTY] is Outcome.FAIL:
            return _reduction(_NOTHING, items)
    else:
        known = check_end_points(run, algorithm.c_pass, algorithm.c_fail)
    predict = options.get("predict")
    search = Search(
        algorithm,
        monotone=options.get("monotone", False),
        predict=None if predict is None else lambda configuration: predict(items.build(configuration)),
        known=known,
    )
    found = run_search(
        search,
        test,
        jobs=options.get("jobs", 1),
        executor=executor,
        prepare=prepare,
        max_tests=options.get("max_tests"),
        time_limit_s=options.get("time_limit_s"),
        on_test=options.get("on_test"),
    )
    return _reduction(found, items)


def _simplifiable(run: Test[IntervalSet], everything: IntervalSet) -> dict[IntervalSet, Outcome]:
    """The outcomes of the empty case and of the whole one, which must fail."""
    known = {EMPTY: run(EMPTY)}
    if everything:
        known[everything] = run(everything)
    if known[everything] is not Outcome.FAIL:
        raise does_not_fail(known[everything])
    return known


_NOTHING = SearchResult(
    c_pass=EMPTY, c_fail=EMPTY, complete=True, stopped_by=None, requested=0, executed=0, speculative=0, statistics=()
)
"""The result of simplifying if the empty case fails."""


def _reduction(found: SearchResult, items: Items[Any, Any]) -> Reduction[Any, Any]:
    return Reduction(
        passing=items.build(found.c_pass),
        failing=items.build(found.c_fail),
        difference=items.difference(found.difference),
        search=found,
    )
