"""The command of a server leads into the copy of the folder in which it works."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from replay_dd.experiment.working_copy import WorkingCopy

APP = WorkingCopy(Path("/app"), Path("/tmp/c/copy"))


@pytest.mark.parametrize(
    "given, moved",
    [
        ("cd /app && python3 server.py", "cd /tmp/c/copy && python3 server.py"),
        ("env -C /app ./run", "env -C /tmp/c/copy ./run"),
        ("/app/run --data=/app/data; ls /app", "/tmp/c/copy/run --data=/tmp/c/copy/data; ls /tmp/c/copy"),
        ("URL=sqlite:////app/x.db run '/app/a b'", "URL=sqlite:////tmp/c/copy/x.db run '/tmp/c/copy/a b'"),
        (r"cd /app/my\ dir && /app/x\;y", r"cd /tmp/c/copy/my\ dir && /tmp/c/copy/x\;y"),
        ("run src/app/main.py ./app ../app", "run src/app/main.py ./app ../app"),
        ("run /application /app-2/x /app.old http://app/", "run /application /app-2/x /app.old http://app/"),
    ],
)
def test_only_whole_paths_lead_into_the_copy(given: str, moved: str) -> None:
    assert APP.command(given) == moved


@pytest.mark.parametrize("name", ["app", "it's mine", "a b", "$HOME"])
@pytest.mark.parametrize("quoted", ["{quoted}/x", '"{path}/x"', "echo '' \\' {quoted}/x", "{escaped}/x"])
def test_what_a_shell_treats_specially_stays_quoted(name: str, quoted: str) -> None:
    copy = WorkingCopy(Path("/the") / name, Path("/copy of/it"))
    path = str(copy.original)
    escaped = "".join(letter if letter.isalnum() or letter == "/" else f"\\{letter}" for letter in path)
    given = f"printf '%s\\n' {quoted.format(quoted=shlex.quote(path), path=path, escaped=escaped)}"
    said = subprocess.run(["/bin/sh", "-c", copy.command(given)], capture_output=True, text=True, check=True).stdout
    assert said.splitlines()[-1] == "/copy of/it/x"


def test_what_is_told_names_the_original() -> None:
    said = "in /tmp/c/copy. At file:///tmp/c/copy/x.js:1, (/tmp/c/copy) but not /tmp/c/copy-2 or /tmp/c/copys"
    assert APP.told(said) == "in /app. At file:///app/x.js:1, (/app) but not /tmp/c/copy-2 or /tmp/c/copys"
