"""A pytest test with reduced inputs inside: it fails as long as the program fails on one of them in the same way.

Rules of this module:

* The test needs nothing but pytest and the program: it can be kept when replay-dd is gone.
* A reduced input is seldom a valid one. So the test does not ask that the program accepts it, but that it no longer
  shows this failure.
* Inputs stand in it as bytes, one line of the input in each of its lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import SHELL_SIGNAL
from replay_dd.input.reduce import DEFAULT_TIME_LIMIT_S
from replay_dd.input.target import PLACE, Target

_LONGEST = 100
_STATUS = re.compile(r"^exit status (\d+)")
_SIGNAL = re.compile(r"^killed by (SIG\w+)")


def input_test(found: Iterable[tuple[bytes, Ending]], target: Target, oracle: Oracle, path: Path) -> str:
    """The source of the test.

    Args:
        found: the reduced inputs, and how the program ends on them.
        target: runs the program.
        oracle: what counts as a failure.
        path: where the test will be: the program is run in the same directory as now, seen from there.
    """
    cases = {content: _asserted(ending, oracle) for content, ending in found}
    return "\n".join(_lines(cases.items(), target, path)) + "\n"


def _asserted(ending: Ending, oracle: Oracle) -> str:
    """The condition that the test asserts, on ``done``."""
    if oracle.pattern is not None:
        return f"not re.search({oracle.pattern.pattern!r}, done.stdout, re.MULTILINE)"
    if oracle.script:
        return "done.returncode in (0, 125)"
    if ending.is_report:
        said = ending.said.removesuffix("...")
        return f"{said.encode()!r} not in done.stdout"
    signal = _SIGNAL.match(ending.words)
    if signal is not None:
        # A shell tells the signal of its program in its own exit status.
        return f"done.returncode not in (-signal.{signal[1]}, {SHELL_SIGNAL} + signal.{signal[1]})"
    status = _STATUS.match(ending.words)
    # Otherwise it ran into the time limit, which is an exception of its own.
    return f"done.returncode != {status[1]}" if status is not None else "done.returncode is not None"


def _lines(cases: Iterable[tuple[bytes, str]], target: Target, path: Path) -> Iterator[str]:
    cases = list(cases)
    where = Path(os.path.relpath(target.directory.resolve(), path.resolve().parent)).as_posix()
    limit_s = max(target.time_limit_s or 0, DEFAULT_TIME_LIMIT_S)
    asserted = "".join(condition for _, condition in cases)
    yield '"""Written by `replay-dd input --write-test`: fails as long as the program fails on this input."""'
    yield ""
    yield from (f"import {name}" for name in ("re", "signal") if f"{name}." in asserted)
    yield "import subprocess"
    yield "from pathlib import Path"
    yield ""
    yield f"COMMAND = {_listed(target.command)}"
    yield f'DIRECTORY = Path(__file__).parent / "{where}"'
    yield ""
    yield ""
    for number, (content, condition) in enumerate(cases, 1):
        suffix = f"_{number}" if len(cases) > 1 else ""
        yield f"def test_{_identifier(target.name)}{suffix}(tmp_path):"
        if target.packing is None or not target.is_folder:
            yield from _literal("content = ", target.given(content), "    ")
        else:
            yield "    content = {"
            for file in target.packing.files(content):
                yield from _literal(f"{file.path!r}: ", content[slice(*file.body)], "        ", ",")
            yield "    }"
        yield "    done = run(content, tmp_path)"
        yield f"    assert {condition}"
        yield ""
        yield ""
    yield "def run(content, folder):"
    yield f"    path = folder / {target.name!r}"
    if not target.is_folder:
        yield "    path.write_bytes(content)"
    else:
        yield "    for name, text in content.items():"
        yield "        (path / name).parent.mkdir(parents=True, exist_ok=True)"
        yield "        (path / name).write_bytes(text)"
    yield f'    command = [word.replace("{PLACE}", str(path)) for word in COMMAND]'
    directory = "DIRECTORY" if target.takes_a_file or not target.is_folder else "path"
    given = "b''" if target.takes_a_file or target.is_folder else "content"
    yield "    return subprocess.run("
    yield f"        command, cwd={directory}, input={given}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,"
    yield f"        timeout={limit_s:g},"
    yield "    )"


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(map(repr, words))}]"


def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_") or "input"


def _literal(begin: str, content: bytes, indent: str, end: str = "") -> Iterator[str]:
    """A bytes literal, in lines that are not too long."""
    pieces = [
        line[start : start + _LONGEST]
        for line in content.splitlines(keepends=True) or [b""]
        for start in range(0, max(len(line), 1), _LONGEST)
    ]
    if len(pieces) == 1:
        yield f"{indent}{begin}{pieces[0]!r}{end}"
        return
    yield f"{indent}{begin}("
    yield from (f"{indent}    {piece!r}" for piece in pieces)
    yield f"{indent}){end}"
