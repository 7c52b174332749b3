"""Reduces the arguments of a call that is made in processes of its own."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import BoundArguments, Parameter, Signature
from typing import Any

from replay_dd.call.circumstance import FIRST_LIMIT_S, CallArguments, CallRun, Search
from replay_dd.call.course import course
from replay_dd.call.failure import Ending
from replay_dd.call.made_call import spread_of
from replay_dd.call.servers import Servers
from replay_dd.call.simpler import optional_of
from replay_dd.call.source import call_source
from replay_dd.call.spaces import size_of
from replay_dd.errors.user import InputError, UsageError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation

ALGORITHMS = ("bisection", "adaptive", "ddmin")


@dataclass(frozen=True)
class CallIsolation:
    """The result.

    Attributes:
        isolation: the searches.
        function: ``module:function``.
        positional: the minimal arguments by position.
        keywords: those by name.
        before: how many parts the arguments had, at all depths.
        left: how many they have now.
    """

    isolation: Isolation[CallRun]
    function: str
    positional: Sequence[Any]
    keywords: Mapping[str, Any]
    before: int
    left: int

    @property
    def call(self) -> str:
        """The minimal call as Python source."""
        return call_source(self.function.rpartition(":")[2], self.positional, self.keywords)


def reduce_call(
    function: str,
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    python: str | None = None,
    failure: re.Pattern[str] | None = None,
    algorithm: str = ALGORITHMS[0],
    jobs: int = 1,
    time_limit_s: float | None = None,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> CallIsolation:
    """Find the smallest arguments with which a function still fails; each call is made in a process of its own.

    Args:
        function: ``module:function``; the module is looked for in the working directory first.
        positional: its arguments by position; builtin types only.
        keywords: those by name.
        python: the interpreter; by default the ``python`` that a shell would find.
        failure: a regular expression for what a traceback ends with; by default the same failure.
        algorithm: one of :data:`ALGORITHMS`.
        jobs: the number of calls at the same time.
        time_limit_s: seconds after which a call hangs, which is a failure, too.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        observer: receives progress.

    Raises:
        FunctionNotFoundError: the function cannot be imported.
        UsageError: it cannot be called with these arguments.
        InputError: nothing can be left out of them.
        DoesNotFailError: it does not fail.
        NotReproducedError: it fails too rarely.
    """
    with Servers(function, python) as servers:
        signature = _signature(servers.parameters(), len(positional))
        try:
            whole = signature.bind(*positional, **keywords).arguments
        except TypeError as error:
            raise UsageError(
                f"{servers.name} cannot be called with these arguments: {error}.",
                "An array or a tuple in the file holds the arguments by position, an object or a dictionary by name.",
            ) from None
        begin = partial(course, whole, list(whole), spread_of(signature), optional_of(signature, whole))
        space = next(begin(), None)
        if space is None:
            raise InputError(
                "The arguments have no parts: there is nothing to leave out.",
                "Strings, lists, tuples, sets and dictionaries have parts, unless they are empty; 0 has none.",
            )

        def run(arguments: Mapping[str, Any], limit_s: float) -> tuple[Ending, float]:
            bound = BoundArguments(signature, dict(arguments))
            began = time.monotonic()
            ending = servers.call(bound.args, bound.kwargs, limit_s)
            return ending, time.monotonic() - began

        def source(arguments: Mapping[str, Any]) -> str:
            return call_source(servers.name, *_given(signature, arguments))

        search = Search(run, source, list(whole), begin, algorithm, failure=failure)
        search.limit_s, search.fixed_limit = time_limit_s or FIRST_LIMIT_S, time_limit_s is not None
        isolation = isolate_cause(
            CallArguments(search, space),
            jobs=jobs,
            max_tests=max_tests,
            time_limit_s=time_budget_s,
            observer=observer,
        )
    final = isolation.circumstance
    assert isinstance(final, CallArguments)
    left = final.arguments(isolation.failing.configuration)
    given = _given(signature, left)
    return CallIsolation(isolation, function, *given, size_of(whole, list(whole)), size_of(left, list(left)))


def _given(signature: Signature, arguments: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """Arguments by position and by name; where some need their names, all have them if they can."""
    bound = BoundArguments(signature, dict(arguments))
    kinds = {signature.parameters[name].kind for name in arguments}
    by_name = kinds <= {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
    return ((), dict(arguments)) if bound.kwargs and by_name else (bound.args, bound.kwargs)


def _signature(parameters: list[tuple[str, str, bool]] | None, positional: int) -> Signature:
    """The parameters of the function, as far as they are known."""
    if parameters is None:
        unnamed = [Parameter(f"argument{number + 1}", Parameter.POSITIONAL_ONLY) for number in range(positional)]
        return Signature([*unnamed, Parameter("keywords", Parameter.VAR_KEYWORD)])
    # Which values the defaults have is known in the other process only, and does not matter here.
    return Signature(
        [
            Parameter(name, getattr(Parameter, kind), default=None if has_default else Parameter.empty)
            for name, kind, has_default in parameters
        ]
    )
