"""The command line with which one test of a suite runs alone, or the suite is loaded."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence

import pytest

# Options of the outer run that a run of one test must not repeat: reports, workers, the choice of tests, ours. Where
# `one_run` has something else instead of them, they are named only if a word follows, which may be that of a file.
_WITH_VALUE = (
    *("--junitxml", "--junit-xml", "--junitprefix", "--junit-prefix", "--report-log", "--html", "--log-file"),
    *("-n", "--numprocesses", "--maxprocesses", "--dist", "--tx", "--px"),
    *("-k", "-m", "--deselect", "--maxfail", "--durations", "--durations-min", "--timeout", "--reruns"),
    *("--cov-report", "--cov-config", "--cov-fail-under", "--cov-context"),
    *("--replay-dd-time", "--replay-dd-total", "--replay-dd-folder", "--replay-dd-log"),
    "--replay-dd-corpus",
    *("--replay-dd-granularity", "--replay-dd-strategy", "--replay-dd-max-delay", "--rootdir"),
)
_ALONE = ("--replay-dd-on-failure", "-v", "-vv", "-q", "-qq", "--verbose", "--quiet")
_STARTS = ("--cov", "--no-cov", "--replay-dd=", "--color", "--debug", "-r")
_PERHAPS_WITH_VALUE = ("--cov", "--replay-dd", "--color", "--debug", "-r")  # which may be the next word

_EMPTY_CACHE = "$TMPDIR/pytest-cache"  # pytest fills in the variable, which names a folder of each run's own


def command_of(config: pytest.Config) -> tuple[str, ...]:
    """The command that runs tests as the outer run would; the names of the tests are to follow.

    Args:
        config: of the outer run.
    """
    options = without_choices(config.invocation_params.args, config.known_args_namespace.file_or_dir)
    quiet = ["-p", "replay_dd.pytest_plugin.one_run"]
    if config.pluginmanager.hasplugin("terminal"):
        quiet.append("-q")
    if config.pluginmanager.hasplugin("cacheprovider"):
        quiet += ["-o", f"cache_dir={_EMPTY_CACHE}"]
    if config.pluginmanager.hasplugin("xdist"):
        quiet += ["-n", "0"]
    if config.pluginmanager.hasplugin("_cov") or config.pluginmanager.hasplugin("pytest_cov"):
        quiet.append("--no-cov")
    # A single test, named by its file, must be known by the same name and settings as in the outer run.
    start = config.invocation_params.dir
    quiet.append(f"--rootdir={os.path.relpath(config.rootpath, start)}")
    if config.inipath is not None and not _names_settings(options):
        quiet += ["-c", os.path.relpath(config.inipath, start)]
    return (*_pytest(), *options, *quiet)


def _names_settings(options: Sequence[str]) -> bool:
    return any(word.startswith("-c") or word.partition("=")[0] == "--config-file" for word in options)


def _pytest() -> list[str]:
    script = sys.argv[0]
    if os.path.basename(script) in ("pytest", "py.test"):
        return [sys.executable, os.path.abspath(script)]  # other than `-m`, does not put the folder on the path
    return [sys.executable, "-m", "pytest"]


def without_choices(arguments: Sequence[str], files: Sequence[str]) -> list[str]:
    """The options that say how tests run; not which, how many at a time, or where reports go.

    Args:
        arguments: of the command line.
        files: those of them that are files, folders or node ids.
    """
    kept: list[str] = []
    words = iter(arguments)
    before = ""
    for word in words:
        name = word.partition("=")[0]
        is_value = before in _PERHAPS_WITH_VALUE and not word.startswith("-") and word not in files
        before = word
        if word in _WITH_VALUE:
            next(words, None)
        elif (
            is_value
            or word == "--replay-dd"
            or name in _WITH_VALUE
            or word in _ALONE
            or word.startswith(_STARTS)
            or word in files
            or _joined(word)
        ):
            continue
        else:
            kept.append(word)
    return kept


def _joined(word: str) -> bool:
    """Whether it is a short option together with its value: ``-n4``."""
    return word[:2] in ("-n", "-k", "-m") and len(word) > 2 and not word.startswith("--")


def environment_of(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment without what pytest and its workers tell themselves, and without our options."""
    # Coverage would trace runs, too, if it were told to do so with child processes.
    measured = ("COV_CORE_SOURCE", "COV_CORE_CONFIG", "COV_CORE_DATAFILE", "COVERAGE_PROCESS_START")
    left_out = (
        *measured,
        "COVERAGE_PROCESS_CONFIG",
        "PYTEST_DEBUG_TEMPROOT",  # would have runs remove temporary files of the user's earlier ones
        "PYTEST_VERSION",
        "PYTEST_CURRENT_TEST",
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_WORKER_COUNT",
        "PYTEST_XDIST_TESTRUNUID",
    )
    kept = {name: value for name, value in variables.items() if name not in left_out}
    if "PYTEST_ADDOPTS" in kept:
        kept["PYTEST_ADDOPTS"] = shlex.join(without_choices(shlex.split(kept["PYTEST_ADDOPTS"]), ()))
    return kept
