"""Forked runs of Python programs end as fresh ones do; what cannot be forked soundly is not."""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from replay_dd.experiment.ending import Oracle
from replay_dd.experiment.forked import fork
from replay_dd.experiment.process import LIVE
from replay_dd.input.forks import Runs, is_python
from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target
from replay_dd.input.units import LINES

PARTS = (b"first\r\n\nlast", b"", b"\xff\n", b"first\n")
# What programs do with a text, and how they get it.
ENDS = "print(ascii(text)); 1 / len(text)"
FROM_A_FILE = {
    "open": "text = open(sys.argv[1], 'rb').read()",
    "pathlib": "text = Path(sys.argv[1]).read_text(errors='replace')",
    "os.open": "text = os.read(os.open(sys.argv[1], 0), 99)",
    "size": "text = 'x' * os.path.getsize(sys.argv[1])",
    "changed folder": "os.chdir(os.path.dirname(sys.argv[1])); text = open(os.path.basename(sys.argv[1]), 'rb').read()",
}
FROM_STDIN = {
    "buffer": "text = sys.stdin.buffer.read()",
    "lines": "sys.stdin.reconfigure(errors='replace'); text = [line for line in sys.stdin]",
    "input": "text = input()",
    "os.read": "text = os.read(0, 99)",
    "open": "text = open(0, errors='replace').read()",
    "path": "text = open('/dev/stdin', errors='replace').read()",
}


def target(body: str, folder: Path, name: str = "in.txt", *, file: bool = True) -> Target:
    script = folder / "script.py"
    script.write_text(f"import json, os, sys, tempfile, time\nfrom pathlib import Path\n{body}\n")
    command = (sys.executable, str(script), *(["{}"] if file else []))
    return Target(command, name, directory=folder, time_limit_s=30)


@pytest.mark.parametrize(
    ("body", "file"),
    [*((body, True) for body in FROM_A_FILE.values()), *((body, False) for body in FROM_STDIN.values())],
    ids=[*FROM_A_FILE, *(f"stdin: {how}" for how in FROM_STDIN)],
)
def test_forked_runs_end_as_fresh_ones(body: str, file: bool, tmp_path: Path) -> None:
    tried = target(f"print('before'); print('early', file=sys.stderr)\n{body}; {ENDS}", tmp_path, file=file)
    whole = Oracle(re.compile(rb"(?s)\A.*\Z"))  # all that it prints
    with Runs(tried, Oracle()) as runs, Runs(tried, whole) as told:
        for part in PARTS:
            finished = tried.run(part)
            fresh = Oracle().ending(finished)
            forked = runs.ending(part)
            assert (forked.verdict, forked.signature, forked.words) == (fresh.verdict, fresh.signature, fresh.words)
            assert told.ending(part).words == whole.ending(finished).words
        assert (runs.forked, runs.why_fresh) == (len(PARTS), "")
    assert not LIVE._processes


@pytest.mark.once
def test_signals_statuses_and_time_limits(tmp_path: Path) -> None:
    body = (
        "text = open(sys.argv[1]).read()\nif text == 's': os.kill(os.getpid(), 15)\nif text == 't': time.sleep(600)\n"
    )
    body += "sys.exit(7)"
    tried = target(body, tmp_path)
    tried.time_limit_s = 1.0
    with Runs(tried, Oracle()) as runs:
        ends = [runs.ending(part).signature for part in (b"x", b"s", b"t", b"y")]
        assert ends == ["exit status 7", "killed by SIGTERM", "time-out", "exit status 7"]
        assert (runs.forked, runs.why_fresh) == (4, "")


@pytest.mark.once
def test_runs_of_a_search_for_a_hang_go_on_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = target("if open(sys.argv[1]).read() == 't': time.sleep(600)", tmp_path)
    tried.time_limit_s = 1.0
    limits: list[float | None] = []

    def noting(*arguments: Any, **options: Any) -> Any:
        limits.append(arguments[3])
        return fork(*arguments, **options)

    monkeypatch.setattr("replay_dd.input.forks.fork", noting)
    with Runs(tried, Oracle()) as runs:
        runs.search_for_longer(partial(runs.afresh, b"t"))
        assert runs.ending(b"t").signature == "time-out"
        assert runs.ending(b"x").signature == "exit status 0"
    assert limits == [1.5, 1.5]


@pytest.mark.once
def test_a_run_finds_nothing_of_another(tmp_path: Path) -> None:
    body = (
        "text = open(sys.argv[1]).read(); open(sys.argv[1], 'a').write('more')\n"
        "os.makedirs(tempfile.gettempdir() + '/a/b'); print(text, os.listdir(tempfile.gettempdir())); sys.exit(1)"
    )
    with Runs(target(body, tmp_path), Oracle()) as runs:
        said = [runs.ending(part).words for part in (b"x", b"yy", b"z")]
        assert runs.forked == 3
    assert [words.split(": ")[1].split()[0] for words in said] == ["x", "yy", "z"]
    assert len({words.split(" ", 4)[4] for words in said}) == 1


@pytest.mark.once
@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (
            "import threading; threading.Thread(target=time.sleep, args=(9,), daemon=True).start()",
            "a thread is running",
        ),
        ("file = open('log', 'w')", "opens log for writing"),
        ("os.mkdir('made')", "os.mkdir"),
        ("os.mkdir(tempfile.gettempdir() + '/x')", "temporary files"),
        ("import socket; pair = socket.socketpair()", "open before"),
        ("import subprocess; subprocess.run(['true'])", "subprocess"),
        (
            "import _ctypes, ctypes; ctypes.CDLL(None).mkstemp(tempfile.gettempdir().encode() + b'/XXXXXX')",
            "open before",
        ),
        ("sys.exit(3)", "does not see where"),
    ],
)
def test_what_cannot_be_forked(before: str, reason: str, tmp_path: Path) -> None:
    tried = target(f"{before}\nsys.exit(open(sys.argv[1]).read() == 'x')", tmp_path)
    with Runs(tried, Oracle()) as runs:
        assert [runs.ending(part) != b"" for part in (b"x", b"y", b"x")] == [True] * 3
        assert reason in runs.why_fresh
        assert runs.forked == 0
    assert not LIVE._processes


@pytest.mark.once
def test_what_a_program_did_before_it_was_refused_is_undone(tmp_path: Path) -> None:
    body = "os.mkdir('made')\ntext = open(sys.argv[1]).read()\nos.rmdir('made')\nsys.exit(text == 'x')"
    with Runs(target(body, tmp_path), Oracle()) as runs:
        assert [runs.ending(part).signature for part in (b"x", b"y")] == ["exit status 1", "exit status 0"]
        assert "os.mkdir" in runs.why_fresh
    assert not (tmp_path / "made").exists()


@pytest.mark.once
def test_a_process_of_the_library_that_looks_at_the_machine_does_no_harm(tmp_path: Path) -> None:
    looks = "import platform; platform.architecture()"
    with Runs(target(f"{looks}\nsys.exit(open(sys.argv[1]).read() == 'x')", tmp_path), Oracle()) as runs:
        assert [runs.ending(part).signature for part in (b"x", b"y")] == ["exit status 1", "exit status 0"]
        assert (runs.forked, runs.why_fresh) == (2, "")
    mine = tmp_path / "ctypes" / "util.py"
    mine.parent.mkdir()
    mine.write_text("import subprocess\nsubprocess.run(['touch', 'left'])\n")
    (mine.parent / "__init__.py").touch()
    # Its bytecode would be written, too.
    imports = "sys.dont_write_bytecode = True\nimport ctypes.util"
    with Runs(target(f"{imports}\nsys.exit(open(sys.argv[1]).read() == 'x')", tmp_path), Oracle()) as runs:
        assert runs.ending(b"x").signature == "exit status 1"
        assert "subprocess" in runs.why_fresh


@pytest.mark.once
def test_a_cache_that_is_made_once_does_no_harm(tmp_path: Path) -> None:
    body = "if not os.path.exists('cache'): open('cache', 'w').close()\nsys.exit(open(sys.argv[1]).read() == 'x')"
    with Runs(target(body, tmp_path), Oracle()) as runs:
        assert [runs.ending(part).signature for part in (b"x", b"y")] == ["exit status 1", "exit status 0"]
        assert (runs.forked, runs.why_fresh) == (2, "")


@pytest.mark.once
def test_nothing_is_forked_any_more_once_a_fork_ends_otherwise(tmp_path: Path) -> None:
    body = (
        "own = os.getpid()\ntext = open(sys.argv[1]).read()\nsys.exit(4 if text == 'x' and own != os.getpid() else 5)"
    )
    with Runs(target(body, tmp_path), Oracle()) as runs:
        assert [runs.ending(part).signature for part in (b"y", b"x", b"z")] == ["exit status 5"] * 3
        assert "exit status 4" in runs.why_fresh
        assert "exit status 5" in runs.why_fresh
        assert runs.forked == 2


@pytest.mark.once
def test_evidence_and_repetitions_are_fresh(tmp_path: Path) -> None:
    with Runs(target("sys.exit(open(sys.argv[1]).read() == 'x')", tmp_path), Oracle()) as runs:
        for fresh in (True, False, False, True):
            assert runs.ending(b"x", fresh=fresh).signature == "exit status 1"
        assert runs.forked == 1


@pytest.mark.once
def test_which_commands_start_python(tmp_path: Path) -> None:
    for name, first in (("tool", f"#!{sys.executable}"), ("env", "#!/usr/bin/env python3"), ("shell", "#!/bin/sh")):
        (tmp_path / name).write_text(f"{first}\n")
    found = {
        command: is_python(Target((command, "{}"), "in", directory=tmp_path))
        for command in ("./tool", "./env", "./shell", "./none", "none", "python3.12", "/x/python3.14t", "sh")
    }
    assert [command for command, yes in found.items() if yes] == ["./tool", "./env", "python3.12", "/x/python3.14t"]


@pytest.mark.once
def test_the_answer_is_the_same(tmp_path: Path) -> None:
    content = b"".join(b"%d\n" % number for number in range(20))
    tried = target("assert not {'3', '11'} <= set(open(sys.argv[1]).read().split())", tmp_path)
    found = [reduce_input(content, tried, levels=[LINES], jobs=jobs, may_fork=jobs > 1) for jobs in (1, 3)]
    assert {(one.failing, one.notes) for one in found} == {(b"3\n11\n", ())}
    assert found[0].isolation.tests == found[1].isolation.tests
    threads = "import threading; threading.Thread(target=time.sleep, args=(0.3,)).start()\n"
    tried = target(f"{threads}assert 'b' not in open(sys.argv[1]).read()\n", tmp_path)
    (note,) = reduce_input(b"a\nb\n", tried, levels=[LINES]).notes
    assert note.startswith("Each test started the program anew")
