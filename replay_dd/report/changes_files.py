"""What is written beside the answer of `replay-dd changes`: a log in the form of `git bisect`, and a test.

Rules of this module:

* What git reads are its own commands, for commits; all else are comments, so that `git bisect replay` takes the log.
* The test needs nothing of replay-dd.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.changes.isolate import ChangesIsolation, Narrowed
from replay_dd.changes.shown import passages
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import counted

_TERMS = {Outcome.PASS: "good", Outcome.FAIL: "bad", Outcome.UNRESOLVED: "skip"}


def log_of(found: ChangesIsolation, narrowed: Narrowed | None) -> Iterator[str]:
    """The tests in their order, line by line.

    Args:
        found: the result.
        narrowed: the search of the commits, if there was one.
    """
    if narrowed is not None:
        yield "git bisect start"
        for commit, outcome in narrowed.tried:
            yield f"# {_TERMS[outcome]}: [{commit}]"
            yield f"git bisect {_TERMS[outcome]} {commit}"
        yield f"# the first that fails: [{narrowed.new.revision}]"
    if found.left_out:
        yield f"# {counted(found.left_out.count, 'change')} left out: neither version executes them"
    for step in found.isolation.steps:
        of = f"test {step.number}, {counted(step.size, step.unit)} applied, {step.deltas_left:,} left"
        yield f"# {_TERMS[step.outcome]}: {of}: {step.words}"
    for title in _titles(found):
        yield f"# the change: {title}"


def regression_test(
    found: ChangesIsolation, program: Sequence[str], *, grep: str | None, time_limit_s: float
) -> Iterator[str]:
    """A test for pytest that fails as long as the program does, line by line.

    Args:
        found: the result.
        program: the command, as the user gave it.
        grep: the regular expression that tells the failure, if one does.
        time_limit_s: seconds after which the program is killed.
    """
    yield '"""It failed after a change that `replay-dd changes` found in:'
    yield ""
    yield from (f"    {_plain(title)}" for title in _titles(found))
    yield '"""'
    yield ""
    yield "import os"
    yield from (["import re"] if grep is not None else [])
    yield "import subprocess"
    yield "import sys"
    yield ""
    first = "sys.executable" if program[0] in ("python", "python3") else repr(program[0])
    yield f"COMMAND = [{', '.join([first, *map(repr, program[1:])])}]"
    yield ""
    yield ""
    yield "def test_the_program_does_not_fail_again():"
    yield '    path = os.pathsep.join([".", "src", os.environ.get("PYTHONPATH", "")])'
    yield '    variables = {**os.environ, "PYTHONPATH": path}'
    yield (
        f"    done = subprocess.run(COMMAND, env=variables, capture_output=True, text=True, timeout={time_limit_s:g})"
    )
    yield "    said = done.stdout + done.stderr"
    if grep is not None:
        yield f"    assert not re.search({grep!r}, said, re.MULTILINE), said"
    else:
        yield "    assert done.returncode == 0, said"


def _titles(found: ChangesIsolation) -> Iterator[str]:
    yield from dict.fromkeys(passage.title for passage in passages(found.difference, found.guilty, found.guilty))


def _plain(text: str) -> str:
    """A text that can stand in a docstring."""
    return "".join(one if one.isprintable() and one not in '"\\' else "?" for one in text)
