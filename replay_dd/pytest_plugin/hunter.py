"""Hunts one test: varies its schedules, isolates what makes it fail, and keeps the logs."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

from replay_dd.errors import ReplayDDError
from replay_dd.experiment.driver import Observer
from replay_dd.experiment.forked import CannotForkError
from replay_dd.pytest_plugin.chance import decided_by_chance
from replay_dd.pytest_plugin.known import kind_of, repeated
from replay_dd.pytest_plugin.results import (
    FAILS_ALWAYS,
    LATEST_S,
    NO_FAILURE,
    NO_THREADS,
    NO_VERDICT,
    NOT_HUNTED,
    RACE,
    HuntResult,
    enough_delay_s,
    in_ms,
    schedules_command,
)
from replay_dd.report.corpus import known_failures
from replay_dd.report.isolation import proof_in_words
from replay_dd.report.schedules import does_in_words, schedules_as_text
from replay_dd.report.story import story_as_text
from replay_dd.report.wakes import further_delays, is_about_sleeping, wake_in_words, wakes_as_text
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.corpus import Corpus
from replay_dd.schedules.hunting.hunt import Hunt, hunt
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.isolating.gil import BEFORE_SPECIALISATION, WITH_GIL
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.isolating.same_schedule import outside_decides
from replay_dd.schedules.log import write_log
from replay_dd.schedules.model import Program, Settings, Wake
from replay_dd.schedules.running.first_thread import Start, start_program
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.suite import Suite
from replay_dd.schedules.story.explain import explain

_TIME_LIMIT_S = 120.0  # of one run; of those of a hunt, not more than the time for the test, but for this much:
_LEAST_LIMIT_S = 30.0
_SLOWER = 20  # how many times as long as by itself a test may take under control, and some seconds more:
_START_S = 10.0
# Without a limit for all tests, what was found is isolated for so many times as long as a test may be hunted, and not
# less than so many seconds: most take a few, but with dozens of threads it may go on for hours.
_ISOLATION = 5
_LEAST_ISOLATION_S = 120.0
_LONGEST_NAME = 100
# Node ids that can be read off the name of the folder: no others have the same one.
_PLAIN = re.compile(r"\w[\w/-]*\.py(::\w+)+(\[[\w.\[\]-]*\])?(::call-\d+)?")
_PASSES_ALONE = (
    "it has failed, but alone it passes under each schedule that was tried; what made it fail may be another schedule, "
    "a test before it, chance or the time"
)
_WIDTH = 80


@dataclass(frozen=True)
class Wanted:
    """What is asked for one test.

    Attributes:
        runs: the maximum number of schedules.
        seconds: how long that may take.
        strategy: how to choose schedules; None for a mixture.
        corpus: the folder that keeps what hunts have learnt; None for none.
        call: which of the calls of the test it is; 0 for the test as a whole.
        took_s: how long the test took by itself, in seconds; None if unknown.
        until: when the time for all tests is over, as ``time.monotonic()`` tells it; None if there is no limit.
        failed: whether the test has just failed by itself.
    """

    runs: int
    seconds: float
    strategy: str | None = None
    corpus: Path | None = None
    call: int = 0
    took_s: float | None = None
    until: float | None = None
    failed: bool = False

    def isolation_s(self) -> float:
        """Seconds that are left to isolate what was found: at least as long as it was hunted."""
        if self.until is None:
            return max(_LEAST_ISOLATION_S, _ISOLATION * self.seconds)
        return max(self.seconds, self.until - time.monotonic())

    def is_over(self) -> bool:
        """Whether no time is left for all tests."""
        return self.until is not None and time.monotonic() >= self.until

    def limit_s(self, load_s: float | None) -> float:
        """Seconds after which a run is ended: the time for the test, or what it may well take if that is longer.

        Args:
            load_s: how long it took to load the suite, which some runs do again, in seconds; None if unknown.
        """
        least_s = _LEAST_LIMIT_S
        if self.took_s is not None and load_s is not None:
            least_s = min(least_s, _START_S + load_s + _SLOWER * self.took_s)
        return min(_TIME_LIMIT_S, max(least_s, self.seconds))


class Hunter:
    """Hunts tests of one suite, which is loaded when the first of them comes.

    Args:
        suite: the program that loads the suite.
        folder: where to keep logs.
        directory: where pytest was started; paths are told as seen from there.
        verbosity: how much pytest is asked to tell of a failure.
        tell: is told how far it has come, in words.
    """

    def __init__(
        self,
        suite: Program,
        folder: Path,
        directory: Path,
        verbosity: int = 0,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._program = suite
        self._folder = folder
        self._directory = directory
        self._verbosity = verbosity
        self._tell = tell
        self._suites: dict[Settings, Suite | str] = {}
        self._load_s: dict[Settings, float] = {}

    def close(self) -> None:
        """End the suites."""
        for suite in self._suites.values():
            if isinstance(suite, Suite):
                suite.close()

    def hunt(self, test: str, program: Program, settings: Settings, wanted: Wanted) -> HuntResult:
        """Hunt one test.

        Args:
            test: its node id.
            program: runs it alone.
            settings: what to count and hold fixed.
            wanted: how much of it.
        """
        started = time.monotonic()
        try:
            result = self._hunt(test, program, settings, wanted)
            suite = self._suites.get(settings)
            if isinstance(suite, Suite):
                result = replace(result, anew=suite.made_anew(test))
        except ReplayDDError as error:
            result = HuntResult(test, NOT_HUNTED, why=str(error))
        except KeyboardInterrupt:
            result = HuntResult(test, NOT_HUNTED, why="interrupted", interrupted=True)
        except Exception as error:  # the suite goes on, whatever happens to one hunt
            result = HuntResult(test, NOT_HUNTED, why=f"replay-dd failed: {type(error).__name__}: {error}")
        return HuntResult(**{**result.as_data(), "story": result.story, "seconds": time.monotonic() - started})

    def _hunt(self, test: str, program: Program, settings: Settings, wanted: Wanted) -> HuntResult:
        start, why_not = self._start(settings, test)
        found = self._varied(test, program, settings, wanted, start)
        notes: list[str] = []
        delay_s = _delay_worth_trying_s(found, settings, wanted)
        if delay_s:
            self._tell("it fails under each schedule: trying later threads")
            settings = replace(settings, max_delay_ns=round(delay_s * 1e9))
            start, why_not = self._start(settings, test)
            again = self._varied(test, program, settings, wanted, start)
            found = again._replace(runs=found.runs + again.runs)
            notes = [f"it failed under each schedule until threads could be {in_ms(delay_s)} late"]
        fresh = why_not or found.why_fresh
        notes = notes if found.failing and found.passing else []
        if found.learnt is not None:
            notes += [self._near(line) for line in known_failures(found.learnt)]
        if found.instead_of:
            notes.append(f"hunted with the real clock: with the virtual one, it ended with {found.instead_of}")
        if found.failing is None or found.passing is None or found.one_schedule:
            why = "interrupted" if found.interrupted else _why(found)
            result = HuntResult(test, _verdict(found), found.runs, why=why, fresh=fresh, asleep_s=found.asleep_s)
            unlike = wanted.failed and result.verdict == NO_FAILURE
            if (unlike or result.verdict == FAILS_ALWAYS) and not found.interrupted:
                self._tell("trying other random numbers")
                chance = decided_by_chance(
                    *(program, settings),
                    fails=not unlike,
                    time_limit_s=wanted.limit_s(self._load_s.get(settings)),
                    seconds=wanted.seconds,
                    is_over=wanted.is_over,
                )
                notes += [chance or _PASSES_ALONE] if unlike else [chance]
            return replace(result, interrupted=found.interrupted).with_why(*notes)
        outside = outside_decides(found.passing, found.failing)
        if outside:
            ends = signature_of(found.failing.ending).text
            return HuntResult(test, NO_VERDICT, found.runs, why=ends, fresh=fresh).with_why(outside, *notes)
        folder = self._folder / folder_name(test, wanted.call)
        folder.mkdir(parents=True, exist_ok=True)
        for name, log in (("pass.log", found.passing), ("fail.log", found.failing)):
            write_log(log, folder / name)
        if found.interrupted:
            return self._not_isolated(test, found, folder, "interrupted").with_why(*notes)
        if found.failing.settings.real_clock != settings.real_clock:  # the suite that is loaded has the other clock
            start, _ = self._start(replace(settings, real_clock=found.failing.settings.real_clock), test)
        with Runner(found.failing.program, found.failing.settings, start=start) as runner:
            result = self._isolated(test, found, folder, runner, fresh, wanted.isolation_s()).with_why(*notes)
            return replace(result, fresh=fresh or runner.why_fresh)

    def _varied(self, test: str, program: Program, settings: Settings, wanted: Wanted, start: Start) -> Hunt:
        about = f"{test} call {wanted.call}" if wanted.call else test
        return hunt(
            *(program, settings),
            HuntOptions(
                runs=wanted.runs,
                strategy=wanted.strategy,
                time_limit_s=wanted.limit_s(self._load_s.get(settings)),
                time_budget_s=wanted.seconds,
                simplify_s=wanted.seconds,  # a race found at the last moment is worth it: it is isolated next
                always_verify=False,
            ),
            corpus=Corpus(wanted.corpus, about) if wanted.corpus else None,
            start=start,
            listener=HuntListener(
                on_run=lambda number, plan, signature: self._tell(f"schedule {number} of {wanted.runs}"),
                on_simplify=lambda number: self._tell(f"simplifying the schedules, run {number}"),
            ),
        )

    def _not_isolated(self, test: str, found: Hunt, folder: Path, why: str, told: str = "") -> HuntResult:
        assert found.failing is not None
        failure = signature_of(found.failing.ending).text
        return HuntResult(
            *(test, RACE, found.runs, 0, why, failure, "not isolated"),
            log=self._shown(folder / "fail.log"),
            story=tuple(wrap(f"{kind_of(found.failing).upper()}, not isolated: {why}", _WIDTH)),
            told=told,
            interrupted=found.interrupted,
            kind=kind_of(found.failing),
        )

    def _isolated(
        self, test: str, found: Hunt, folder: Path, runner: Runner, fresh: str, time_budget_s: float
    ) -> HuntResult:
        assert found.passing is not None
        assert found.failing is not None
        failure = signature_of(found.failing.ending).text
        began_s = time.monotonic()
        try:
            observer = Observer(on_test=lambda record: self._tell(f"isolating what it takes, test {record.number}"))
            answer = isolate(
                *(found.passing, found.failing), time_budget_s=time_budget_s, runner=runner, observer=observer
            )
        except ReplayDDError as error:
            told = repeated(found.failing, _TIME_LIMIT_S, self._verbosity)[1]
            return replace(self._not_isolated(test, found, folder, str(error), told), fresh=fresh)
        minimal_pass, minimal_fail = folder / "minimal-pass.log", folder / "minimal-fail.log"
        write_log(answer.passing, minimal_pass)
        counted, told = repeated(answer.failing, _TIME_LIMIT_S, self._verbosity)
        write_log(counted, minimal_fail)
        self._tell("finding out what the threads do to each other")
        explanation = explain(answer, runner=runner, ends_at=began_s + time_budget_s)
        story = list(story_as_text(explanation, answer.failing.program)) if explanation.story else []
        whole = list(schedules_as_text(answer, minimal_pass, minimal_fail))
        (folder / "answer.txt").write_text("\n".join([*story, "", *whole]) + "\n")
        shown = [*story, *_early_in_words(answer)] if story else whole[:20]
        if not story and time.monotonic() - began_s >= time_budget_s:
            shown += ["No time was left to find out what the threads do to each other. That is told by"]
            shown += [f"{'':<13}{schedules_command(self._shown(minimal_pass), self._shown(minimal_fail))}"]
        wake = _wake(answer)
        place = None if answer.switch is None else answer.switch.failing.place
        place = wake.place if wake is not None and wake.place is not None else place
        return HuntResult(
            test,
            RACE,
            found.runs,
            failure=failure,
            switch=_switch_in_words(answer),
            path=self._shown(Path(place.path)) if place else "",
            line=place.line if place else 0,
            gil=_gil_in_words(answer),
            log=self._shown(minimal_fail),
            story=(
                *(line.replace("`--max-delay`", "`--replay-dd-max-delay`") for line in shown),
                f"{'evidence':<13}{proof_in_words(answer.isolation)}",
            ),
            told=told,
            fresh=fresh,
            kind=kind_of(answer.failing),
            interrupted=answer.isolation.stopped_by == "interrupt" or explanation.interrupted,
        )

    def _near(self, line: str) -> str:
        return line.replace(f"{self._directory}{os.sep}", "")

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._directory)

    def _start(self, settings: Settings, test: str) -> tuple[Start, str]:
        """What starts a test: a copy of the loaded suite, or a fresh process; and why the latter."""
        suite = self._suites.get(settings)
        if suite is None:
            started = time.monotonic()
            self._tell("loading the suite")
            try:
                suite = Suite(self._program, settings)
                self._load_s[settings] = time.monotonic() - started
            except CannotForkError as error:
                suite = f"it cannot be loaded once for all: {error}"
            self._suites[settings] = suite
        return (start_program, suite) if isinstance(suite, str) else (suite.start_test(test), "")


def folder_name(test: str, call: int = 0) -> str:
    """A name for the folder of a test's logs, of no other test's; the calls after the first one have their own."""
    test += f"::call-{call}" if call > 1 else ""
    name = re.sub(r"[^\w.\[\]-]+", "-", test.replace("::", ".").replace("/", ".")).strip("-.")
    if len(name) <= _LONGEST_NAME and _PLAIN.fullmatch(test):
        return name
    # What is not in the name may be what tells two tests apart.
    return f"{name[:_LONGEST_NAME]}-{hashlib.sha256(test.encode(errors='surrogatepass')).hexdigest()[:8]}"


def _delay_worth_trying_s(found: Hunt, settings: Settings, wanted: Wanted) -> float:
    """How late threads would have to be for another hunt of a test that always fails, in seconds; 0 if none is due.

    Tests of races often have a sleep that makes sure of the failure: it passes only where that sleep ends early.
    """
    fails = wanted.failed and found.failing is not None and found.passing is None
    if not fails or found.one_schedule or found.interrupted or wanted.is_over() or settings.max_delay_ns == 0:
        return 0.0
    if found.asleep_s > LATEST_S:
        return 0.0
    # So little too late may be the first of many short sleeps that add up: nobody knows to how much.
    adds_up = 0 < found.asleep_s <= settings.max_delay_ns / 1e9 * 2
    return LATEST_S if adds_up else enough_delay_s(found.asleep_s)


def _verdict(found: Hunt) -> str:
    if found.one_schedule:
        return NO_THREADS if found.failing is None else NOT_HUNTED
    if found.failing is not None:
        return FAILS_ALWAYS
    return NO_FAILURE if found.passing is not None else NO_VERDICT


def _why(found: Hunt) -> str:
    if found.failing is not None:
        text = signature_of(found.failing.ending).text
        return f"alone, it fails before it starts a thread: {text}" if found.one_schedule else text
    parts = [f"{one.text} ({one.runs} of {found.runs} runs)" for one in found.others]
    parts += [f"{one.text} ({one.runs} of {found.runs} runs), but not when it was replayed" for one in found.failures]
    return "; ".join(parts) or ("" if found.passing is not None else "no run replayed exactly")


def _wake(answer: ScheduleIsolation) -> Wake | None:
    """The sleep that has to end for the failure, if that makes the difference."""
    about_sleeping = answer.switch is not None and is_about_sleeping(answer.switch)
    return answer.switch.failing.wake if about_sleeping and answer.switch is not None else None


def _early_in_words(answer: ScheduleIsolation) -> Iterator[str]:
    """Where a sleep ends early: which, and before what; a story only has what the threads touch."""
    wake = _wake(answer)
    if wake is not None and wake.early_ns and answer.switch is not None:
        yield from wakes_as_text(answer.switch, answer.failing, answer.passing)
    else:
        yield from further_delays(answer.failing, None if answer.switch is None else answer.switch.failing)


def _switch_in_words(answer: ScheduleIsolation) -> str:
    if not answer.isolation.complete:
        return "not isolated"  # the switch is only one of many that still differ
    if answer.switch is None:
        return "several switches"
    if _wake(answer) is not None:
        return wake_in_words(answer.switch.failing)
    switch = answer.switch.failing
    return f"thread {switch.thread} {does_in_words(switch)} {switch.where}"


def _gil_in_words(answer: ScheduleIsolation) -> str:
    if answer.switch is not None and answer.switch.failing.forced:
        return "possible: the thread waits there"
    if answer.switch is not None and answer.switch.failing.collects:
        return "possible: garbage is collected in any thread"
    possible = {WITH_GIL: "possible", BEFORE_SPECIALISATION: f"possible, {BEFORE_SPECIALISATION}"}
    return possible.get(answer.gil.label, "not possible") if answer.gil.label else "unknown"
