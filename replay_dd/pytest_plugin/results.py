"""What the hunts of a suite found, as plain data, and as text."""

from __future__ import annotations

import math
import re
import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

RACE = "race"
NO_FAILURE = "no failure"
NO_VERDICT = "no verdict"  # no run ended, or none was like its replay
FAILS_ALWAYS = "fails under each schedule"
NO_THREADS = "starts no thread"
NOT_HUNTED = "not hunted"
DEADLOCK = "deadlock"
HANG = "hang"  # threads go round in a circle
KINDS = {RACE: "races", DEADLOCK: "deadlocks", HANG: "hangs"}  # of what is found, with their plurals
NO_TIME = "no time is left of --replay-dd-total"
LATEST_S = 1.0  # threads that are later than that are rare, and most tests have a time-out that guards against a hang
_NUMBER = re.compile(r":\[\d+\]")  # of a socket or a pipe, which differs each time
_WHICH = re.compile(rf"{_NUMBER.pattern}| before its first thread")


@dataclass(frozen=True)
class HuntResult:
    """What the hunt of one test found.

    Attributes:
        test: its node id.
        verdict: one of the constants of this module; :data:`RACE` for whatever only some schedules bring about.
        runs: how many schedules were run.
        seconds: how long that took, with the isolation.
        why: more words about the verdict.
        failure: the failure of a race.
        switch: where a thread has to give way for it.
        path: the file of that line; empty if there is none.
        line: its number.
        gil: whether the interpreter can switch there by itself.
        log: the log that repeats the failure.
        story: what the threads did to each other, line by line.
        told: what pytest wrote about the failure.
        fresh: why runs used fresh processes; empty if they were forked.
        anew: why fixtures of its session, module or class were made anew for it; empty if they served others as well.
        asleep_s: how late a thread would have been, at least, in seconds, if a sleep or time-out had ended early that
            could not; 0 if there was none.
        interrupted: whether Ctrl-C ended the hunt.
        unfit: why logs that its marker names guard against nothing, line by line.
        kind: what was found, with the verdict :data:`RACE`: one of :data:`KINDS`.
    """

    test: str
    verdict: str
    runs: int = 0
    seconds: float = 0.0
    why: str = ""
    failure: str = ""
    switch: str = ""
    path: str = ""
    line: int = 0
    gil: str = ""
    log: str = ""
    story: tuple[str, ...] = ()
    told: str = ""
    fresh: str = ""
    anew: str = ""
    asleep_s: float = 0.0
    interrupted: bool = False
    unfit: tuple[str, ...] = ()
    kind: str = RACE

    @property
    def repeat(self) -> str:
        """The command that repeats the failure, from the folder in which pytest was started."""
        return f"{_tool()} replay {shlex.quote(self.log)}" if self.log else ""

    def with_why(self, *notes: str) -> HuntResult:
        """The same, with more words about the verdict."""
        return replace(self, why="; ".join(filter(None, [self.why, *notes])))

    def as_data(self) -> dict[str, Any]:
        """Plain data, to be sent from one process to another."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: dict[str, Any]) -> HuntResult:
        """The result that was turned into this data."""
        return cls(**{**data, "story": tuple(data["story"]), "unfit": tuple(data["unfit"])})

    def properties(self) -> Iterator[tuple[str, str]]:
        """What goes into reports of the whole suite."""
        yield "replay_dd.verdict", self.verdict
        yield "replay_dd.runs", str(self.runs)
        for name in ("switch", "gil", "log"):
            if getattr(self, name):
                yield f"replay_dd.{name}", getattr(self, name)


def summary(results: Iterable[HuntResult], tests: int, threaded: int) -> Iterator[str]:
    """The table at the end of a run.

    Args:
        results: of the tests that were to be hunted.
        tests: how many tests ran.
        threaded: how many of them had threads.
    """
    all_of = list(results)
    hunted = [result for result in all_of if result.verdict not in (NOT_HUNTED, NO_THREADS)]
    found = Counter(result.kind for result in all_of if result.verdict == RACE)
    runs, seconds = sum(result.runs for result in hunted), sum(result.seconds for result in hunted)
    yield (
        f"{tests} {'test' if tests == 1 else 'tests'}, {threaded} with threads, {len(hunted)} hunted, "
        f"{_counted(found)} found, {runs} {'run' if runs == 1 else 'runs'}, "
        f"{seconds:.1f} s"
    )
    for result in all_of:
        if result.verdict == RACE:
            yield f"{result.kind.upper()} {result.test}: {result.switch}"
            yield f"     {result.repeat}"
            if result.why:
                yield f"     {result.why}"
        elif (result.verdict not in (NO_FAILURE, NO_THREADS) or result.why) and result.why != NO_TIME:
            yield f"{result.test}: {result.verdict}{f': {result.why}' if result.why else ''}"
    late = [result for result in all_of if result.why == NO_TIME]
    if late:
        yield f"{len(late)} {'test was' if len(late) == 1 else 'tests were'} not hunted: {NO_TIME}"
    for reason, count in Counter(_NUMBER.sub("", result.fresh) for result in hunted if result.fresh).items():
        yield f"{count} {'test' if count == 1 else 'tests'} loaded the suite in each run, which is slower: {reason}"
    again = (_WHICH.sub("", result.anew) for result in hunted if result.anew and not result.fresh)
    for reason, count in Counter(again).items():
        whose = "1 test had its" if count == 1 else f"{count} tests had their"
        yield f"{whose} session, module or class fixtures made anew, as they cannot be shared: {reason}"
    same = [one.asleep_s for one in hunted if one.verdict in (NO_FAILURE, FAILS_ALWAYS)]
    asleep = [asleep_s for asleep_s in same if 0 < asleep_s <= LATEST_S]
    if asleep:
        which = "1 test" if len(asleep) == 1 else f"each of {len(asleep)} tests"
        yield (
            f"In {which}, a sleep or time-out ended only when no other thread could run, as it would have made one "
            f"too late. If threads may be so late, try `--replay-dd-max-delay={in_ms(enough_delay_s(max(asleep)))}`."
        )
    if any(result.verdict == NO_FAILURE for result in hunted):
        yield "Where no failure was found, that is not a proof: other schedules were not tried."


def tells_of_a_find(line: str) -> bool:
    """Whether a line of the summary begins with what was found in a test."""
    return line.partition(" ")[0] in map(str.upper, KINDS)


def _counted(found: Counter[str]) -> str:
    """How many of each kind, as ``2 races and 1 deadlock``; races also if there are none."""
    counts = {kind: found[kind] for kind in KINDS if found[kind]} or {RACE: 0}
    return " and ".join(f"{count} {kind if count == 1 else KINDS[kind]}" for kind, count in counts.items())


def enough_delay_s(asleep_s: float) -> float:
    """A round length of time that is no shorter, in seconds."""
    step_ms = 10 if asleep_s <= 0.1 else 100
    return math.ceil(round(asleep_s * 1000 / step_ms, 6)) * step_ms / 1000


def in_ms(seconds: float) -> str:
    """A length of time as options take it."""
    return f"{round(seconds * 1000)}ms"


def table(results: Iterable[HuntResult]) -> Iterator[str]:
    """One line for each test for which there was time: what was found, in how many runs and seconds."""
    for result in results:
        if result.why == NO_TIME:
            continue  # they are counted
        runs = "run " if result.runs == 1 else "runs"
        verdict = result.kind if result.verdict == RACE else result.verdict
        yield f"{verdict:<26}{result.runs:>5} {runs} {result.seconds:>7.1f} s  {result.test}"


def unfit_in_words(result: HuntResult) -> Iterator[str]:
    """Why logs that its marker names guard against nothing, and the way out."""
    if result.unfit:
        yield from result.unfit
        yield "Name a newer log in the marker of the test, or none."


def annotation(result: HuntResult) -> str:
    """The line that makes GitHub show a race, beside its source line if that is known."""
    message = f"{result.failure}: {result.switch}"
    where = f"file={_value(result.path)},line={result.line}," if result.path else ""
    return f"::error {where}title={result.kind} in {_value(result.test)}::{_text(message)}"


def job_summary(results: Iterable[HuntResult], tests: int, threaded: int) -> str:
    """The same as :func:`summary` in Markdown, for GitHub's page of a job."""
    first, *_ = summary(list(results), tests, threaded)
    lines = ["### replay-dd", "", first, ""]
    for result in results:
        if result.verdict == RACE:
            lines += [f"- `{result.test}`", "", "```text", *result.story, "", result.repeat, "```", ""]
    return "\n".join(lines) + "\n"


def schedules_command(passing: str, failing: str) -> str:
    """The command that isolates the difference of two logs, from the folder in which pytest was started."""
    return f"{_tool()} schedules {shlex.quote(passing)} {shlex.quote(failing)}"


def _tool() -> str:
    """How replay-dd is called here."""
    return "replay-dd" if shutil.which("replay-dd") else f"{shlex.quote(sys.executable)} -m replay_dd"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
