"""The hunts of one run of pytest: which program runs a test alone, what is asked for it, how long it may take.

Rules of this module:

* Hunts run in other processes, so nothing of a hunt can reach a test.
* One loaded suite serves all tests that are hunted with the same settings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.errors import ReplayDDError
from replay_dd.outcome import Outcome
from replay_dd.pytest_plugin.asking import Asked, asked_by_marker, asked_of, option, total_s
from replay_dd.pytest_plugin.budget import Budget
from replay_dd.pytest_plugin.command_line import command_of, environment_of, word_of
from replay_dd.pytest_plugin.hunted_call import WHICH_CALL
from replay_dd.pytest_plugin.hunter import Hunter, Wanted
from replay_dd.pytest_plugin.known import Replayed, log_path, replayed
from replay_dd.pytest_plugin.results import NOT_HUNTED, RACE, HuntResult
from replay_dd.schedules.hunt_corpus import Corpus
from replay_dd.schedules.log import read_log
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.record import settings_for_now
from replay_dd.schedules.target import describe_program

_INSIDE = "replay_dd.pytest_plugin.suite"
_KEY: pytest.StashKey[Hunts] = pytest.StashKey()


def hunts_of(config: pytest.Config) -> Hunts:
    """The hunts of a run of pytest, which end with it."""
    if _KEY not in config.stash:
        config.stash[_KEY] = hunts = Hunts(config)
        config.add_cleanup(hunts.close)
    return config.stash[_KEY]


class Hunts:
    """What is asked of a run of pytest, and the loaded suites.

    Args:
        config: of that run.

    Attributes:
        budget: how long hunts may take.

    Raises:
        pytest.UsageError: an option makes no sense.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._asked = asked_of(config)
        self.budget = Budget(self._asked.time_s, total_s(config))
        self._directory = config.invocation_params.dir
        self._folder = self._directory / option(config, "folder")
        self._corpus = self._directory / option(config, "corpus") if option(config, "corpus") else None
        self._settings: dict[tuple[str, float], Settings] = {}
        self._hunters: dict[int, Hunter] = {}

    def close(self) -> None:
        """End the loaded suites."""
        for hunter in self._hunters.values():
            hunter.close()
        self._hunters.clear()

    def check_folder(self) -> None:
        """Make sure that logs can be kept, before hours are spent on finding them.

        Raises:
            pytest.UsageError: they cannot.
        """
        there = next(folder for folder in (self._folder, *self._folder.parents) if folder.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise pytest.UsageError(
                f"--replay-dd-folder: no logs can be kept in {self._folder}, as {there} is not a folder "
                "that can be written to. Name another one."
            )
        if self._corpus is not None:
            try:
                Corpus(self._corpus)
            except ReplayDDError as error:
                raise pytest.UsageError(f"--replay-dd-corpus: {error} {error.hint}") from error

    def hunt_test(self, item: pytest.Item, left: int) -> HuntResult | None:
        """Hunt a test; None if it is to be left alone.

        Args:
            item: the test, which has just run.
            left: how many tests there still are, with this one.
        """
        try:
            asked = asked_by_marker(self._asked, item.get_closest_marker("replay_dd"))
            known = [log_path(name, (self._config.rootpath, self._directory)) for name in asked.known]
        except ValueError as error:
            return HuntResult(item.nodeid, NOT_HUNTED, why=f"@pytest.mark.replay_dd: {error}")
        if asked.runs == 0 or "replay_dd" in getattr(item, "fixturenames", ()):
            return None  # the latter says itself what is to be hunted
        started = time.monotonic()
        notes = []
        for path in known:
            result = self._known_race(item, path)
            if result.verdict == RACE:
                return replace(result, seconds=time.monotonic() - started)
            notes += [result.why] if result.why else []
        seconds = self.budget.share_s(left, asked.time_s)
        if seconds <= 0:
            return HuntResult(item.nodeid, NOT_HUNTED, why="no time is left of --replay-dd-total")
        result = self._hunt(item, asked, seconds)
        return result.with_why(*notes)

    def hunt_call(self, item: pytest.Item, number: int, given: Mapping[str, Any]) -> HuntResult:
        """Hunt a call that a test makes through the fixture.

        Args:
            item: the test.
            number: the number of that call in the test.
            given: what is asked for it, by name.

        Raises:
            ValueError: that makes no sense.
        """
        asked = self._asked.with_given(given)
        result = self._hunt(item, asked, asked.time_s, number)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def replay(self, item: pytest.Item, log: Path) -> Replayed:
        """Run a test under the schedule of a log.

        Raises:
            ReplayDDError: it cannot be run, or there is no such log.
        """
        recorded = read_log(log)
        call = int(recorded.program.environment.get(WHICH_CALL, "0"))
        return replayed(
            recorded, self._program([word_of(item, self._directory)], call=call), str(self._config.rootpath)
        )

    def _known_race(self, item: pytest.Item, path: Path) -> HuntResult:
        shown = os.path.relpath(path, self._directory)
        try:
            found = self.replay(item, path)
        except ReplayDDError as error:
            return HuntResult(item.nodeid, NOT_HUNTED, why=f"known race {shown}: {error}")
        if found.outcome is not Outcome.FAIL:
            why = f"known race {shown} cannot be checked: {found.why}" if found.why else ""
            return HuntResult(item.nodeid, NOT_HUNTED, 1, why=why)
        return HuntResult(
            *(item.nodeid, RACE, 1),
            failure=found.failure,
            switch=found.switch or "in the default schedule",
            path=found.path,
            line=found.line,
            log=shown,
            story=(f"The known race of {shown} is back: {found.switch or found.failure}",),
            told=found.told,
        )

    def _hunt(self, item: pytest.Item, asked: Asked, seconds: float, call: int = 0) -> HuntResult:
        if self._config.pluginmanager.hasplugin("timeout"):
            item.ihook.pytest_timeout_cancel_timer(item=item)  # the limit is not for hunts
        hunter = self._hunters.get(call)
        if hunter is None:
            files = [str(name) for name in self._config.known_args_namespace.file_or_dir]
            suite = self._program(files, _INSIDE, call=call)
            hunter = self._hunters[call] = Hunter(suite, self._folder, self._directory)
        kind = asked.granularity, asked.max_delay_s
        settings = self._settings.get(kind)
        if settings is None:
            settings = self._settings[kind] = settings_for_now(asked.granularity, max_delay_s=asked.max_delay_s)
        program = self._program([word_of(item, self._directory)], call=call)
        with self.budget:
            return hunter.hunt(
                item.nodeid, program, settings, Wanted(asked.runs, seconds, asked.strategy, self._corpus, call)
            )

    def _program(self, tests: list[str], *plugins: str, call: int = 0) -> Program:
        program = describe_program(command_of(self._config, tests, *plugins), directory=self._directory)
        variables = environment_of(program.environment)
        if call:
            variables[WHICH_CALL] = str(call)
        return Program(**{**vars(program), "environment": variables})
