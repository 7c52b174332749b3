"""Writes a reduced program as a pytest test that fails as long as the tool fails on it.

Rules of this module:

* The test holds the program and the command, and judges the run by the same rules as the search did.
* What comes from the program or its output becomes a string literal or a line of a docstring; nothing else.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import PurePath

from replay_dd.code.reduce import CodeReduction
from replay_dd.code.source import File
from replay_dd.code.target import CodeTarget
from replay_dd.experiment.ending import Oracle
from replay_dd.report.order_test import literal
from replay_dd.trust.printable import printable

_WIDTH = 88
_SHORTEST_LIMIT_S = 60.0


def code_test(found: CodeReduction, target: CodeTarget, oracle: Oracle) -> str:
    """The text of the test.

    Args:
        found: the reduced program.
        target: the tool.
        oracle: what counted as a failure.
    """
    tool = PurePath(target.command[0]).name
    ending = found.isolation.failing.run or found.first
    lines = [
        *_docstring(f"A program on which {tool} fails: {ending.words}"),
        "",
        "from replay_dd.testing import check_program",
        "",
    ]
    for number, file in enumerate(found.failing.files):
        text = list(_text(file))
        if len(text) == 1:
            lines.append(f"{_constant(number)} = {text[0]}")
        else:
            lines += [f"{_constant(number)} = (", *(f"    {line}" for line in text), ")"]
    name = re.sub(r"[^a-z0-9]+", "_", f"{tool} on {PurePath(target.name).stem}".lower()).strip("_")
    lines += ["", "", f"def test_{name}() -> None:", "    check_program("]
    lines += [f"        [{', '.join(map(literal, target.command))}],", "        {"]
    lines += [f"            {literal(file.name)}: {_constant(at)}," for at, file in enumerate(found.failing.files)]
    lines += ["        },", f"        failure={literal(ending.signature)},"]
    lines += [f"        {argument}," for argument in _settings(target, oracle)]
    return "\n".join([*lines, "    )"]) + "\n"


def _constant(number: int) -> str:
    return "PROGRAM" if number == 0 else f"PROGRAM_{number + 1}"


def _docstring(title: str) -> Iterator[str]:
    about = (
        "This fails as long as the failure is there. Written by `replay-dd code --write-test`; it needs the tool that "
        "the command names."
    )
    safe = printable(title).replace("\\", "\\\\").replace('"""', "'''").rstrip('"').rstrip()
    wrapped = textwrap.wrap(f"{safe}.", _WIDTH - 3)
    yield f'"""{wrapped[0]}'
    yield from wrapped[1:]
    yield ""
    yield from textwrap.wrap(about, _WIDTH)
    yield '"""'


def _text(file: File) -> Iterator[str]:
    """The lines of a file as literals; bytes if it is not written in UTF-8."""
    if file.encoding == "utf-8" and not file.mark:
        lines = file.content.decode().splitlines(keepends=True)
        yield from map(literal, lines or [""])
    else:
        yield from map(repr, file.written.splitlines(keepends=True) or [b""])


def _settings(target: CodeTarget, oracle: Oracle) -> Iterator[str]:
    if target.arguments:
        yield f"arguments=[{', '.join(map(literal, target.arguments))}]"
        yield f"folders=[{', '.join(map(literal, sorted(target.folders)))}]"
    if oracle.pattern is not None:
        yield f"grep={literal(oracle.pattern.pattern.decode())}"
    if oracle.script:
        yield "script=True"
    if target.time_limit_s is not None and target.time_limit_s > _SHORTEST_LIMIT_S:
        yield f"time_limit_s={target.time_limit_s:g}"
