"""What is done for each hunt: which program runs a test alone, how long it may take.

Rules of this module:

* It runs in a process of its own, which starts before the first test: see :mod:`replay_dd.pytest_plugin.hunts`.
* One loaded suite serves all tests that are hunted with the same settings. A call that is not the first of its test has
  a suite of its own, which knows what was found for those before.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from replay_dd.errors import ReplayDDError
from replay_dd.outcome import Outcome
from replay_dd.pytest_plugin.asking import Asked, log_path
from replay_dd.pytest_plugin.budget import Budget
from replay_dd.pytest_plugin.command_line import environment_of
from replay_dd.pytest_plugin.hunted_call import EARLIER_CALLS, WHICH_CALL
from replay_dd.pytest_plugin.hunter import Hunter, Wanted
from replay_dd.pytest_plugin.known import Replayed, is_test_of, replayed, test_of
from replay_dd.pytest_plugin.results import NO_FAILURE, NO_TIME, NOT_HUNTED, RACE, HuntResult
from replay_dd.schedules.log import read_log
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.target import describe_program

_INSIDE = "replay_dd.pytest_plugin.suite"


class HuntsAtWork:
    """The loaded suites, and what is known of them.

    Args:
        directory: where pytest was started.
        root: the root of the tests.
        folder: where to keep logs.
        command: runs tests as in the outer run, once they are named.
        files: the files and folders that were named there.
        test_s: seconds for each test.
        total_s: seconds for all hunts together; None for no limit.
        corpus: the folder that keeps what hunts have learnt; None for none.
        verbosity: how much pytest is asked to tell of a failure.
        tell: is told how far it has come, in words.
    """

    def __init__(
        self,
        directory: str,
        root: str,
        folder: str,
        command: tuple[str, ...],
        files: tuple[str, ...],
        test_s: float,
        total_s: float | None,
        corpus: str | None,
        verbosity: int,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._directory = Path(directory)
        self._root = Path(root)
        self._folder = Path(folder)
        self._command = command
        self._files = files
        self._verbosity = verbosity
        self._tell = tell
        self._corpus = None if corpus is None else Path(corpus)
        self._budget = Budget(test_s, total_s)
        self._settings: dict[tuple[str, float], Settings] = {}
        self._hunters: dict[tuple[str, ...], Hunter] = {}

    def close(self) -> None:
        """End the loaded suites."""
        for hunter in self._hunters.values():
            hunter.close()
        self._hunters.clear()

    def hunt_test(
        self,
        test: str,
        file: str,
        asked: Asked,
        left: int,
        expected: float,
        took_s: float | None = None,
        failed: bool = False,
    ) -> HuntResult:
        """Hunt a test.

        Args:
            test: its node id.
            file: its file.
            asked: how it is to be hunted.
            left: how many tests there still are, with this one.
            expected: how many of them are expected to have threads, with this one.
            took_s: how long it took by itself, in seconds; None if unknown.
            failed: whether it has failed by itself.
        """
        tried = self._known_races(test, file, asked)
        if tried.verdict == RACE or asked.runs == 0:
            return tried
        seconds = self._budget.share_s(left, expected, asked.time_s)
        if seconds <= 0:
            return HuntResult(test, NOT_HUNTED, why=NO_TIME, unfit=tried.unfit)
        found = self._hunt(test, file, asked, seconds, took_s=took_s, failed=failed)
        return replace(found.with_why(tried.why), unfit=tried.unfit)

    def hunt_call(
        self, test: str, file: str, asked: Asked, number: int, earlier: Sequence[HuntResult] = ()
    ) -> HuntResult:
        """Hunt a call that a test makes through the fixture.

        Args:
            test: its node id.
            file: its file.
            asked: how it is to be hunted.
            number: the number of that call in the test.
            earlier: what was found for the calls before it.
        """
        call = {WHICH_CALL: str(number)}
        if earlier:
            # But for how long it took, so that the same hunt makes the same runs.
            call[EARLIER_CALLS] = json.dumps([replace(one, seconds=0.0).as_data() for one in earlier])
        tried = self._known_races(test, file, asked, number)
        if tried.verdict == RACE:
            return tried
        return replace(self._hunt(test, file, asked, asked.time_s, call).with_why(tried.why), unfit=tried.unfit)

    def not_called(self, test: str, asked: Asked, calls: int) -> tuple[str, ...]:
        """Why known races of a test were tried by none of its calls, as it made no more than so many."""
        return tuple(filter(None, (self._not_called(test, name, asked, calls) for name in asked.known)))

    def _not_called(self, test: str, name: str, asked: Asked, calls: int) -> str:
        try:
            path = log_path(name, (self._root, self._directory))
            recorded = read_log(path)
        except (ReplayDDError, ValueError) as error:
            return "" if calls else f"Cannot check the known race in {name}: {error}"  # each call has told that
        number = int(recorded.program.environment.get(WHICH_CALL, "1"))
        if number <= calls or (asked.for_several and not is_test_of(recorded, test)):
            return ""
        shown, made = os.path.relpath(path, self._directory), f"{calls} call{'' if calls == 1 else 's'}"
        return f"Cannot check the known race in {shown}: it belongs to call {number}, but the test made {made}"

    def replay(self, test: str, file: str, log: str) -> tuple[Replayed | None, str]:
        """Run a test under the schedule of a log; None and why if it cannot be run."""
        try:
            return self._replayed(test, file, read_log(Path(log))), ""
        except ReplayDDError as error:
            return None, str(error)

    def _replayed(self, test: str, file: str, recorded: Log) -> Replayed:
        variables = recorded.program.environment
        call = {name: variables[name] for name in (WHICH_CALL, EARLIER_CALLS) if name in variables}
        program = self._program([self._word(test, file)], call)
        return replayed(recorded, program, str(self._root), self._verbosity)

    def _known_races(self, test: str, file: str, asked: Asked, number: int = 0) -> HuntResult:
        """Try the known races of a test, or of one of its calls, until one is back."""
        started = time.monotonic()
        notes: list[str] = []
        unfit: list[str] = []
        runs = 0
        for name in asked.known:
            result = self._known_race(test, file, name, asked, number)
            runs += result.runs
            if result.verdict == RACE:
                return replace(result, seconds=time.monotonic() - started)
            notes += filter(None, [result.why])
            unfit += result.unfit
        verdict = NO_FAILURE if runs else NOT_HUNTED
        seconds = time.monotonic() - started
        return HuntResult(test, verdict, runs, seconds, unfit=tuple(unfit)).with_why(*notes)

    def _known_race(self, test: str, file: str, name: str, asked: Asked, number: int) -> HuntResult:
        try:
            path = log_path(name, (self._root, self._directory))
            shown = os.path.relpath(path, self._directory)
            recorded = read_log(path)
            its_own = is_test_of(recorded, test)
            # A log of the test as a whole, by `hunt -- pytest`, is tried where its first call is made.
            of_call = number == 0 or recorded.program.environment.get(WHICH_CALL, "1") == str(number)
            if not of_call or (asked.for_several and asked.runs == 0 and not its_own):
                return HuntResult(test, NOT_HUNTED)
            self._tell(f"trying the known race in {shown}")
            found = self._replayed(test, file, recorded)
        except (ReplayDDError, ValueError) as error:
            why = f"Cannot check the known race in {name}: {error}"
            return HuntResult(test, NOT_HUNTED, why=why, unfit=(why,))
        if found.outcome is not Outcome.FAIL:
            why = f"Cannot check the known race in {shown}: {found.why}" if found.why else ""
            if why and not its_own:
                why += f"; it is a log of {test_of(recorded)}"
            fails = why and (its_own or not asked.for_several)
            verdict, runs = (NOT_HUNTED, 0) if why else (NO_FAILURE, 1)
            return HuntResult(test, verdict, runs, why=why, unfit=(why,) if fails else ())
        return HuntResult(
            *(test, RACE, 1),
            failure=found.failure,
            switch=found.switch or "in the default schedule",
            path=found.path,
            line=found.line,
            log=shown,
            story=(f"The known {found.kind} in {shown} is back: {found.switch or found.failure}",),
            told=found.told,
            kind=found.kind,
        )

    def _hunt(
        self,
        test: str,
        file: str,
        asked: Asked,
        seconds: float,
        call: Mapping[str, str] = MappingProxyType({}),
        took_s: float | None = None,
        failed: bool = False,
    ) -> HuntResult:
        hunter = self._hunter(call)
        kind = asked.granularity, asked.max_delay_s
        settings = self._settings.get(kind)
        if settings is None:
            settings = self._settings[kind] = settings_for_now(asked.granularity, max_delay_s=asked.max_delay_s)
        program = self._program([self._word(test, file)], call)
        with self._budget:
            until = self._budget.until
            number = int(call.get(WHICH_CALL, "0"))
            wanted = Wanted(asked.runs, seconds, asked.strategy, self._corpus, number, took_s, until, failed)
            return hunter.hunt(test, program, settings, wanted)

    def _hunter(self, call: Mapping[str, str]) -> Hunter:
        """That of the suite which knows about this call."""
        about = tuple(call.values())
        if about not in self._hunters:
            for others in [others for others in self._hunters if len(others) > 1 < len(about)]:
                self._hunters.pop(others).close()  # no other call will need it
            suite = self._program(self._files, call, _INSIDE)
            self._hunters[about] = Hunter(suite, self._folder, self._directory, self._verbosity, self._tell)
        return self._hunters[about]

    def _word(self, test: str, file: str) -> str:
        """What names a test on a command line in this folder."""
        _, separator, inside = test.partition("::")
        return f"{os.path.relpath(file, self._directory)}{separator}{inside}"

    def _program(self, tests: Sequence[str], call: Mapping[str, str], *plugins: str) -> Program:
        named = [word for plugin in plugins for word in ("-p", plugin)]
        program = describe_program((*self._command, *named, *tests), directory=self._directory)
        variables = {**environment_of(program.environment), **call}
        return Program(**{**vars(program), "environment": variables})
