"""For tests: run a program under an order of its threads that once made it fail; check that a failing call is minimal.

``replay-dd schedules --write-test`` writes tests of an order. Importing this module loads nothing else.
"""

from __future__ import annotations

import json
import os
import shlex
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay_dd.order_variables import INSIDE, VERDICTS

if TYPE_CHECKING:
    from replay_dd.schedules.replaying.pinned_order import Switch as Switch
    from replay_dd.schedules.replaying.pinned_order import Verdict

__all__ = ["OrderGoneError", "OrderGoneWarning", "Switch", "assert_minimal", "check_order", "check_program"]


class OrderGoneWarning(UserWarning):
    """The place of a switch is gone; other places were tried instead, and the program passes."""


class OrderGoneError(AssertionError):
    """The places of the switches are gone, so the test cannot tell anything."""


def check_order(
    command: str | Sequence[str],
    *switches: Switch,
    folder: str | os.PathLike[str] = ".",
    failure: str = "",
    date: str = "2025-01-01",
    granularity: str = "access",
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    preload: Sequence[str] = (),
    real_clock: bool = False,
    real_entropy: bool = False,
    max_delay_s: float = 0.1,
    stdin: bytes = b"",
    fresh_copy: bool = False,
    process: str = "",
    environment: Mapping[str, str] | None = None,
    time_limit_s: float = 120.0,
) -> None:
    """Run a program, and switch its threads at these places; it must pass.

    Places are found by the text of their lines, so they may move. If the line of a switch is gone, the switch is tried
    everywhere in the same function, and a warning says so.

    Args:
        command: the program and its arguments, as in a shell. ``python`` and ``pytest`` are those of the environment
            that this process runs in.
        switches: where threads are switched; everything else is the default schedule.
        folder: the working directory.
        failure: how the program failed, such as ``KeyError in Cache.get``; any failure fails the test.
        date: the day at which the program's clock starts, such as ``2030-01-31``.
        granularity: ``access``, ``line``, ``gil`` or ``sync``.
        include: packages that are counted besides.
        exclude: packages that are not counted.
        preload: modules that are imported before the program.
        real_clock: use the real clock.
        real_entropy: use the system's entropy.
        max_delay_s: how late a thread may be, in seconds, where a sleep ends before it goes on.
        stdin: what the program can read.
        fresh_copy: run it in a copy of the folder.
        process: which of the command's Python processes is meant, if it starts several.
        environment: variables that have other values than here.
        time_limit_s: seconds after which a run is killed.

    Raises:
        AssertionError: the program fails.
        OrderGoneError: the places are gone, and the program passes, which tells nothing.
        ReplayDDError: the program cannot be run.
    """
    __tracebackhide__ = True  # pytest then shows the test, not this function
    if os.environ.get(INSIDE):
        import pytest  # the program is pytest, and has collected this test as well

        pytest.skip("inside the program of another such test")
    from replay_dd.schedules.model import Settings
    from replay_dd.schedules.replaying.pinned_order import Kind, PinnedOrder, start_of

    settings = Settings(
        *(granularity, tuple(include), tuple(exclude), start_of(date), 1, real_clock, real_entropy, tuple(preload)),
        max_delay_ns=round(max_delay_s * 1e9),
    )
    order = PinnedOrder(
        shlex.split(command) if isinstance(command, str) else tuple(command),
        Path(folder),
        switches,
        failure,
        settings,
        stdin,
        fresh_copy,
        process,
        {**(environment or {}), INSIDE: "1"},
        time_limit_s,
    )
    verdict = order.run()
    _note(verdict)
    if verdict.kind is Kind.PASSES:
        if verdict.tried:
            warnings.warn("\n  ".join(("a switch of this test has lost its place:", *verdict.why)), OrderGoneWarning, 2)
        return
    if verdict.kind is Kind.GONE:
        raise OrderGoneError(_told(verdict, "this test cannot tell any more: the program passes, but not in the order"))
    what = "the program fails in this order"
    if verdict.kind is Kind.FAILS_OTHERWISE:
        what = f"the program fails in this order, though not with {failure}"
    raise AssertionError(_told(verdict, f"{what}: {verdict.ending}"))


def check_program(
    command: Sequence[str],
    files: Mapping[str, str | bytes],
    *,
    failure: str,
    arguments: Sequence[str] = (),
    folders: Sequence[str] = (),
    grep: str = "",
    script: bool = False,
    time_limit_s: float = 60.0,
) -> None:
    """Run a tool on a program; it must not fail in the way that it once did.

    Args:
        command: the tool and its arguments; ``{}`` in them stands for the path of the program.
        files: the text of each file.
        failure: what the failure was, as ``replay-dd code --write-test`` wrote it.
        arguments: which files and folders of the program the tool gets, if it has several files.
        folders: those of them that are folders.
        grep: the failure is output that this regular expression matches.
        script: the exit status is a verdict, as for ``git bisect run``.
        time_limit_s: seconds after which the tool is killed.

    Raises:
        AssertionError: the tool fails in this way.
        ReplayDDError: it cannot be run.
    """
    __tracebackhide__ = True
    from replay_dd.code.regression import still_fails

    ending = still_fails(
        *(command, files, failure),
        arguments=arguments,
        folders=folders,
        grep=grep,
        script=script,
        time_limit_s=time_limit_s,
    )
    if ending is not None:
        raise AssertionError(f"{command[0]} still fails on this program: {ending.words}")


def _told(verdict: Verdict, what: str) -> str:
    said = [f"its last output: {verdict.output}"] if verdict.output else []
    return "\n  ".join((what, *verdict.why, *said))


def _note(verdict: Verdict) -> None:
    file = os.environ.get(VERDICTS)
    if file:
        line = {"kind": verdict.kind.name, "ending": verdict.ending, "why": verdict.why, "tried": verdict.tried}
        with open(file, "a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")


def __getattr__(name: str) -> Any:
    if name == "Switch":
        from replay_dd.schedules.replaying.pinned_order import Switch  # the rest is loaded when a test needs it

        return Switch
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def assert_minimal(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> None:
    """Check that a call fails, and that no single part can be left out of its arguments without a change of that.

    Parts are those of strings, bytes, lists, tuples, sets, dictionaries, arrays and the fields of data classes, at any
    depth.

    Args:
        function: what to call.
        *arguments: its arguments by position.
        **keywords: those by name.

    Raises:
        AssertionError: it does not fail, or it fails in the same way with less.
        ArgumentError: it cannot be called like that, or not repeatedly.
    """
    __tracebackhide__ = True
    # Imported here: other tests have no use for it.
    from replay_dd.call.debugger import DeltaDebugger
    from replay_dd.call.minimal import smaller_failure
    from replay_dd.errors.program import DoesNotFailError

    try:
        collected = DeltaDebugger().collect(function, *arguments, **keywords)
    except DoesNotFailError as error:
        raise AssertionError(error.message) from None
    smaller = smaller_failure(collected)
    if smaller is not None:
        raise AssertionError(
            f"{collected.format_call()} is not minimal: {collected.format_call(smaller)} fails in the same way, with "
            f"{collected.format_exception()}"
        )
