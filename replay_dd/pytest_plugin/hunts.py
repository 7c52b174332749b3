"""The hunts of one run of pytest: what is asked for each test, and the process that does them.

Rules of this module:

* Hunts run in other processes, so nothing of a hunt can reach a test.
* Nothing of a test can reach its hunt, either. A test is hunted while its fixtures are set up, and they may have put
  others in the place of the clock, of files, of processes or of the environment. So the process that hunts starts
  before the first test, and what talks with it here was bound when this module was loaded.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import getpid, kill, read, write
from pathlib import Path
from select import POLLIN, poll
from signal import ITIMER_REAL, SIGINT, SIGKILL, setitimer
from subprocess import DEVNULL, Popen, TimeoutExpired
from typing import Any

import pytest

from replay_dd.pytest_plugin.asking import Asked, asked_by_marker, asked_of, log_path, option, total_s
from replay_dd.pytest_plugin.command_line import command_of
from replay_dd.pytest_plugin.hunt_worker import read_message, write_message
from replay_dd.pytest_plugin.progress_line import NOWHERE, room_of, terminal_for_progress
from replay_dd.pytest_plugin.results import NOT_HUNTED, HuntResult

_KEY: pytest.StashKey[Hunts] = pytest.StashKey()
_WORKER = "import sys; sys.path.append({!r}); from replay_dd.pytest_plugin.hunt_worker import main; main({}, {}, {})"
_PACKAGES = str(Path(__file__).parents[2])
_END_LIMIT_S = 60
_LOSES = 3  # this Ctrl-C costs what was found so far: `timeout -s INT` alone sends two


def hunts_of(config: pytest.Config) -> Hunts:
    """The hunts of a run of pytest, which end with it."""
    if _KEY not in config.stash:
        config.stash[_KEY] = hunts = Hunts(config)
        config.add_cleanup(hunts.close)
    return config.stash[_KEY]


def has_hunts(config: pytest.Config) -> bool:
    """Whether something of a run of pytest was to be hunted."""
    return _KEY in config.stash


class Hunts:
    """What is asked of a run of pytest, and the process that hunts.

    Args:
        config: of that run.

    Raises:
        pytest.UsageError: an option makes no sense.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._asked = asked_of(config)
        self._total_s = total_s(config)
        self._directory = config.invocation_params.dir
        self._folder = self._directory / option(config, "folder")
        self._corpus = str(self._directory / option(config, "corpus")) if option(config, "corpus") else None
        self._process: Popen[bytes] | None = None
        self._asking = self._answers = -1
        self._shows_progress = False
        self._owner = getpid()

    @property
    def limits(self) -> str:
        """How much is asked for, in words."""
        runs = f"{self._asked.runs} schedule{'' if self._asked.runs == 1 else 's'}"
        in_all = "" if self._total_s is None else f", {self._total_s:g} s in all"
        return f"each under up to {runs} for up to {self._asked.time_s:g} s{in_all}"

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
            from replay_dd.errors import ReplayDDError
            from replay_dd.schedules.hunting.corpus import Corpus

            try:
                Corpus(Path(self._corpus))
            except ReplayDDError as error:
                raise pytest.UsageError(f"--replay-dd-corpus: {error} {error.hint}") from error

    def start(self) -> None:
        """Start the process that hunts, if it does not run."""
        if self._process is not None:
            return
        asked, self._asking = os.pipe()
        self._answers, answers = os.pipe()
        terminal = terminal_for_progress(self._config, os.environ)
        self._shows_progress = terminal != NOWHERE
        shown_at = (terminal,) if self._shows_progress else ()
        self._process = Popen(
            # Of what is in the working directory, nothing may come in the place of a module.
            [sys.executable, "-P", "-c", _WORKER.format(_PACKAGES, asked, answers, terminal)],
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            cwd=self._directory,
            pass_fds=(asked, answers, *shown_at),
            start_new_session=True,  # Ctrl-C comes through us
        )
        for descriptor in (asked, answers, *shown_at):
            os.close(descriptor)
        files = tuple(str(name) for name in self._config.known_args_namespace.file_or_dir)
        about = (
            *(str(self._directory), str(self._config.rootpath), str(self._folder)),
            *(command_of(self._config), files, self._asked.time_s, self._total_s, self._corpus),
            self._config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS),
        )
        write_message(self._asking, about, write)

    def close(self) -> None:
        """End that process, and the suites that it has loaded."""
        if self._process is None or getpid() != self._owner:
            return
        os.close(self._asking)
        with contextlib.suppress(TimeoutExpired):
            self._process.wait(_END_LIMIT_S)
        os.close(self._answers)
        self._process.kill()
        self._process.wait()
        self._process = None

    def asked_for(self, item: pytest.Item) -> Asked:
        """What is asked for a test.

        Raises:
            ValueError: its marker makes no sense, or names a log that is not there.
        """
        asked = asked_by_marker(self._asked, item)
        for name in asked.known:
            log_path(name, (self._config.rootpath, self._directory))
        return asked

    def hunt_test(
        self, item: pytest.Item, left: int, expected: float, took_s: float, *, whole: bool, failed: bool
    ) -> HuntResult | None:
        """Hunt a test; None if it is to be left alone.

        Args:
            item: the test, which has just run.
            left: how many tests there still are, with this one.
            expected: how many of them are expected to have threads, with this one.
            took_s: how long it took, in seconds.
            whole: whether to vary its schedules, too, and not only to try those of known races.
            failed: whether it has just failed.
        """
        try:
            asked = self.asked_for(item)
        except ValueError as error:  # the test has got another marker, or lost a log, since it began
            why = _of_marker(error)
            return HuntResult(item.nodeid, NOT_HUNTED, why=why, unfit=(why,))
        if "replay_dd" in getattr(item, "fixturenames", ()):
            return None  # it says itself what is to be hunted, and has known races tried then
        asked = asked if whole else replace(asked, runs=0)
        if asked.runs == 0 and not asked.known:
            return None
        result = self._hunted(item, "hunt_test", asked, left, expected, took_s, failed)
        return result if asked.runs or result.runs or result.why else None  # no log was of this test

    def hunt_call(
        self, item: pytest.Item, number: int, given: Mapping[str, Any], earlier: Sequence[HuntResult]
    ) -> HuntResult:
        """Hunt a call that a test makes through the fixture.

        Args:
            item: the test.
            number: the number of that call in the test.
            given: what is asked for it, by name.
            earlier: what was found for the calls before it.

        Raises:
            ValueError: that makes no sense, nor does the marker of the test.
        """
        known = self.asked_for(item)
        asked = replace(self._asked.with_given(given), known=known.known, for_several=known.for_several)
        result = self._hunted(item, "hunt_call", asked, number, earlier)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def not_called(self, item: pytest.Item, calls: int) -> tuple[str, ...]:
        """Why known races of a test that uses the fixture were tried by none of its calls.

        Args:
            item: the test, which has passed.
            calls: how many calls it made through the fixture.
        """
        try:
            asked = self.asked_for(item)
        except ValueError as error:
            return (_of_marker(error),)
        if not asked.known:
            return ()
        self.start()
        done, answer, interrupted = self._ask("not_called", item.nodeid, asked, calls)
        if interrupted:
            raise KeyboardInterrupt
        return answer if done else (str(answer),)

    def replay(self, item: pytest.Item, log: Path) -> tuple[Any, str]:
        """Run a test under the schedule of a log.

        Returns:
            What it did, a :class:`~replay_dd.pytest_plugin.known.Replayed`, or None and why it cannot be run.
        """
        self.start()
        done, answer, interrupted = self._ask("replay", item.nodeid, str(item.path), str(log))
        if interrupted:
            raise KeyboardInterrupt
        return answer if done else (None, str(answer))

    def _hunted(self, item: pytest.Item, name: str, *arguments: Any) -> HuntResult:
        if self._config.pluginmanager.hasplugin("timeout"):
            item.ihook.pytest_timeout_cancel_timer(item=item)  # the limit is not for hunts
        left_s, every_s = setitimer(ITIMER_REAL, 0)  # nor is one that the test has set
        try:
            self.start()
            done, answer, interrupted = self._ask(name, item.nodeid, str(item.path), *arguments)
        finally:
            if left_s:
                setitimer(ITIMER_REAL, left_s, every_s)
        result = answer if done else HuntResult(item.nodeid, NOT_HUNTED, why=str(answer))
        return replace(result, interrupted=result.interrupted or interrupted)

    def _ask(self, *request: Any) -> tuple[bool, Any, bool]:
        """(Whether that was done, the answer or why it was not, whether Ctrl-C came meanwhile)."""
        interrupts = 0
        try:
            room = room_of(self._config) if self._shows_progress else 0
            write_message(self._asking, (request[0], request[1:], room), write)
            poller = poll()
            poller.register(self._answers, POLLIN)
            while True:
                try:
                    poller.poll()
                    break
                except KeyboardInterrupt:
                    assert self._process is not None
                    interrupts += 1
                    if interrupts in (1, _LOSES):
                        kill(self._process.pid, SIGINT if interrupts == 1 else SIGKILL)
            answer = read_message(self._answers, read)
        except OSError:
            answer = None
        if answer is None:
            return False, "the process that hunts has ended", interrupts > 0
        return *answer, interrupts > 0


def _of_marker(error: ValueError) -> str:
    return f"@pytest.mark.replay_dd: {error}"
