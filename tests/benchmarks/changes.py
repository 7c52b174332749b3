"""Regressions between two releases of libraries: is the change found that the maintainers took back or repaired?

The tests are ours, after reports in the issue trackers. Each search runs one test at a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import environments
from tests.benchmarks.harness import HERE, Bench, Section, Table, WorkerError

_PYTHON = "3.11"
_REQUIREMENTS = (
    *("mpmath==1.3.0", "setuptools==79.0.1", "setuptools_scm==7.1.0"),
    *("six==1.16.0", "asgiref==3.7.2"),  # of dateutil and Django
)
_OURS = Path(sys.executable).with_name("replay-dd")
_TESTS = HERE / "programs" / "changes"
_LIMIT_S = 900
_FLAT = ("--levels", "statement", "--no-coverage", "--no-resolve")
_REPOSITORY = "MARKDOWN_REPOSITORY"

_ABOUT = """\
Regressions of libraries, told by a test of ours that passes with the one release and fails with the other. *Right* is
what the maintainers' repair takes back or changes. Tests, of which so many were unresolved, and seconds, with one test
at a time; *flat* is the same search without groups, coverage and names, stopped after 300 tests or 5 minutes. Runs for
the baseline, for the proof, and to try mixtures again that miss names come on top of the tests; the seconds have them,
but not the download. ujson is built, in C and C++, for each test. pyparsing and what follows it were only looked at
when the search was as it is."""

_HISTORY = """\
The same regression of Markdown in the history of its repository, from 3.3 to 3.4.1, beside `git bisect run` with the
same test. The tests of replay-dd are those of the commits, and those inside the commit found."""


@dataclass(frozen=True)
class _Case:
    """A regression.

    Attributes:
        test: the name of our test.
        old: a release that passes.
        new: one that fails.
        right: what the patch must contain.
        build: how to build it.
    """

    test: str
    old: str
    new: str
    right: str
    build: str = ""


CASES = (
    _Case("markdown_toc", "pip:markdown==3.3.7", "pip:markdown==3.4.1", "'name': stashedHTML2text("),
    _Case("sqlparse_table", "pip:sqlparse==0.5.3", "pip:sqlparse==0.5.4", "+    (r'IF\\s+(NOT\\s+)?EXISTS"),
    _Case("sympy_simplify", "pip:sympy==1.6.2", "pip:sympy==1.7", "+        e = f(bottom_up(e, _futrig))"),
    _Case(
        "ujson_large",
        "sdist:ujson==1.35",
        "sdist:ujson==2.0.3",
        "dconv",
        "CFLAGS='-O0 -fgnu89-inline' python setup.py -q build_ext --inplace --force",
    ),
    _Case("pyparsing_nested", "pip:pyparsing==3.0.9", "pip:pyparsing==3.1.0", "pbe.msg = self.errmsg"),
    _Case("tomlkit_sub", "pip:tomlkit==0.13.2", "pip:tomlkit==0.13.3", "(Table, InlineTable, Container)"),
    _Case("urllib3_ciphers", "pip:urllib3==1.26.18", "pip:urllib3==2.0.0", '-DEFAULT_CIPHERS = ":".join('),
    _Case("django_utc", "pip:django==4.2", "pip:django==5.0", "-    return timezone.utc"),
    _Case("click_flag", "pip:click==8.2.1", "pip:click==8.3.0", "self.default = self.flag_value"),
    _Case("dateutil_nan", "pip:python-dateutil==2.6.1", "pip:python-dateutil==2.7.0", "i = self._parse_numeric_token("),
)


def run(bench: Bench) -> Iterable[Section]:
    try:
        python = environments.peers(bench, "changes", _PYTHON, _REQUIREMENTS)
    except WorkerError as error:
        return [Section("Regressions of libraries", [_ABOUT, str(error)])]
    rows = []
    for case in CASES:
        if case.build and not bench.full:
            rows.append([_named(case), "", "only with `--full`", "", ""])
            continue
        bench.tell(f"changes: {case.test}")
        found = _search(python, case, ())
        flat = (
            "" if case.build else _cost(_search(python, case, (*_FLAT, "--max-tests", "300", "--time-budget", "300")))
        )
        right = "" if isinstance(found, str) else ("yes" if case.right in (found["answer"]["patch"] or "") else "no")
        changed = "" if isinstance(found, str) else f"{found['answer']['changed_lines']:,}"
        rows.append([_named(case), changed, _cost(found), flat, right])
    tables = [Table(["releases", "changes", "tests (unresolved), seconds", "flat", "right"], rows)]
    sections = [Section("Regressions of libraries", [_ABOUT, *tables])]
    return [*sections, Section("Beside `git bisect run`", [_HISTORY, _beside_bisection(bench, python)])]


def _named(case: _Case) -> str:
    name, _, old = case.old.partition(":")[2].partition("==")
    return f"{name} {old} and {case.new.partition('==')[2]}"


def _environment(python: Path) -> dict[str, str]:
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"}


def _search(python: Path, case: _Case, options: Sequence[str]) -> dict[str, dict[str, object]] | str:
    build = ("--build", case.build) if case.build else ()
    return _run(python, (*options, *build, case.old, case.new), case.test, None)


def _run(python: Path, words: Sequence[str], test: str, folder: Path | None) -> dict[str, dict[str, object]] | str:
    with tempfile.TemporaryDirectory() as place:
        command = [_OURS, "changes", "--json", "--jobs", "1", "-o", Path(place) / "patch", *words]
        try:
            done = subprocess.run(
                [*map(str, command), "--", "python", str(_TESTS / f"{test}.py")],
                cwd=folder or place,
                env=_environment(python),
                capture_output=True,
                text=True,
                timeout=3 * _LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            return f"more than {3 * _LIMIT_S} s"
    if not done.stdout:
        return (done.stderr.strip().splitlines() or ["no answer"])[-1][:80]
    answer: dict[str, dict[str, object]] = json.loads(done.stdout)
    return answer


def _cost(found: dict[str, dict[str, object]] | str) -> str:
    if isinstance(found, str):
        return found
    tests = found["tests"]
    unresolved = sum(one["tests"] for one in tests["unresolved"])  # type: ignore[attr-defined]
    stopped = "" if found["complete"] else f", {found['deltas']['left']:,} changes left"
    return f"{tests['run']} ({unresolved}), {tests['seconds']:.0f} s{stopped}"


def _beside_bisection(bench: Bench, python: Path) -> Table | str:
    with tempfile.TemporaryDirectory() as place:
        repository = Path(place) / "markdown"
        source = os.environ.get(_REPOSITORY, "https://github.com/Python-Markdown/markdown")
        bench.tell("changes: the history of Markdown")
        cloned = subprocess.run(["git", "clone", "-q", source, str(repository)], capture_output=True, text=True)
        if cloned.returncode != 0:
            return f"The repository cannot be cloned; `{_REPOSITORY}` can name a copy."
        test = _TESTS / "markdown_toc.py"
        count = Path(place) / "count"

        def git(*arguments: str) -> str:
            done = subprocess.run(
                ["git", *arguments],
                cwd=repository,
                env=_environment(python),
                capture_output=True,
                text=True,
                check=True,
            )
            return done.stdout

        commits = len(git("rev-list", "3.3..3.4.1").split())
        started = time.monotonic()
        git("bisect", "start", "3.4.1", "3.3")
        said = git("bisect", "run", "sh", "-c", f"echo >> {count}; PYTHONPATH=. python -B {test} || exit 1")
        seconds = time.monotonic() - started
        git("bisect", "reset")
        named = next((line for line in said.splitlines() if "first bad commit" in line), "nothing")
        rows = [
            [
                "`git bisect run`",
                count.stat().st_size,
                f"{seconds:.1f} s",
                f"the commit {named[:8]}, {_size(git, named)}",
            ]
        ]
        found = _run(python, ("3.3..3.4.1",), "markdown_toc", repository)
        if isinstance(found, str):
            return found
        history, answer = found["answer"]["history"], found["answer"]
        assert isinstance(history, dict)
        patch = str(answer["patch"])
        tests = f"{history['tests']} + {found['tests']['run']}"
        changed = sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in patch.splitlines())
        commit = answer["commits"][0]["commit"][:8] if answer["commits"] else "?"  # type: ignore[index]
        rows.append(
            [
                "`replay-dd changes`",
                tests,
                f"{found['tests']['seconds']:.1f} s",
                f"the commit {commit}, {changed} lines of it",
            ]
        )
        return Table([f"{commits} commits", "tests", "seconds", "names"], rows)


def _size(git: object, named: str) -> str:
    assert callable(git)
    stat = git("show", "--shortstat", "--format=", named.split()[0]).strip()
    return stat.split(" changed")[0] + " with" + stat.partition("changed,")[2]
