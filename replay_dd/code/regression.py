"""Whether a tool still fails on a reduced program: what a test asks that ``replay-dd code --write-test`` wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from replay_dd.code.source import File, Program
from replay_dd.code.target import CodeTarget
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.outcome import Outcome


def still_fails(
    command: Sequence[str],
    files: Mapping[str, str | bytes],
    failure: str,
    *,
    arguments: Sequence[str],
    folders: Sequence[str],
    grep: str,
    script: bool,
    time_limit_s: float,
) -> Ending | None:
    """Run a tool on a program; how it ended, if it failed in this way.

    Args:
        command: the tool and its arguments, with ``{}`` for the program.
        files: the text of each file.
        failure: the signature of the failure.
        arguments: which files and folders of the program the tool gets, if it has several files.
        folders: those of them that are folders.
        grep: the pattern that is the failure, if there is one.
        script: whether the exit status is a verdict.
        time_limit_s: seconds after which the tool is killed.

    Raises:
        ProgramNotFoundError: there is no such tool.
    """
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    program = Program(tuple(File(name, content, None) for name, content in contents.items()))
    target = CodeTarget(
        *(tuple(command), next(iter(files), "program.py")),
        environment=dict(os.environ),
        time_limit_s=time_limit_s,
        arguments=arguments,
        folders=frozenset(folders),
    )
    oracle = Oracle(re.compile(grep.encode(), re.MULTILINE) if grep else None, script).named(files)
    ending = oracle.ending(target.run_program(program))
    return ending if ending.verdict is Outcome.FAIL and ending.signature == failure else None
