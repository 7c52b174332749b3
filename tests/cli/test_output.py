"""Nothing that a stranger's log or a program says is obeyed by a terminal, or passes itself off as ours."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from replay_dd.events.log import read_session, write_session
from replay_dd.schedules.log import read_log, write_log
from replay_dd.trust.printable import printable
from tests.cli.kinds import write_all
from tests.cli.tool import Workshop
from tests.fuzz.mutations import with_checksum
from tests.house.sources import package_folder

pytestmark = pytest.mark.once

# A title, the clipboard, a cleared screen, the same in 8 bits, a line of its own, text from right to left, no text.
EVIL = "\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\r\noutcome: passed\u202e\u200b\udc9b\x7f"


def texts_made_evil(value: Any, kept: frozenset[str]) -> Any:
    """A JSON value with something evil at the end of each text; texts below these keys stay as they are."""
    if isinstance(value, dict):
        return {name: item if name in kept else texts_made_evil(item, kept) for name, item in value.items()}
    if isinstance(value, list):
        return [texts_made_evil(item, kept) for item in value]
    return value + EVIL if isinstance(value, str) else value


def made_evil(path: Path, kept: set[str]) -> None:
    first, *lines = path.read_bytes().splitlines()
    evil = [json.dumps(texts_made_evil(json.loads(line), frozenset(kept))).encode() for line in lines]
    path.write_bytes(with_checksum(b"\n".join([first, *evil]) + b"\n"))


FIXED = {
    "schedule log": {
        *(
            "switch",
            "to",
            "digest",
            "key",
            "thread",
            "thread_times",
            "granularity",
            "library_key",
            "standard_input",
            "files",
            "where",
        ),
        "withheld",
        "checksum",
    },
    "GUI session": {"kind", "pace"},
    "user flow": {"type", "steps"},
}


@pytest.fixture
def evil_logs(race: Workshop, shop: Workshop) -> dict[str, Path]:
    paths = write_all(race, shop)
    session = read_session(paths["GUI session"])
    write_session(session, paths["GUI session"])
    for kind in ("schedule log", "GUI session"):
        made_evil(paths[kind], FIXED[kind])
    flow = json.loads(paths["user flow"].read_text())
    flow["title"] += EVIL
    flow["steps"][0]["url"] += EVIL
    flow["steps"][1]["selectors"] = [[f"#evil{EVIL}"]]
    flow["steps"] += [{"type": "keyDown", "key": EVIL}, {"type": "customStep", "name": EVIL, "parameters": EVIL}]
    paths["user flow"].write_text(json.dumps(flow))
    return paths


def check_harmless(said: str) -> None:
    assert printable(said, keep="\n\t") == said
    assert "outcome: passed" not in said.splitlines()


@pytest.mark.parametrize("kind", FIXED)
def test_showing_a_log_full_of_escapes(kind: str, evil_logs: dict[str, Path], shop: Workshop) -> None:
    for options in ((), ("--json",)):
        done = shop.run("show", evil_logs[kind], *options)
        assert done.status == 0, done.stderr
        check_harmless(done.stdout)
        check_harmless(done.stderr)
        assert "x1b]0;title" in done.stdout or options


@pytest.mark.parametrize("command", ["replay", "minimize"])
def test_refusing_a_log_full_of_escapes(command: str, evil_logs: dict[str, Path], shop: Workshop) -> None:
    done = shop.run(command, evil_logs["schedule log"])
    assert done.status in (2, 130)
    check_harmless(done.stdout)
    check_harmless(done.stderr)


def test_an_ordinary_program_whose_exception_has_escapes(shop: Workshop) -> None:
    shop.write(f"raise type('Odd' + {EVIL[:8]!r}, (Exception,), {{}})({EVIL!r})\n", "odd.py")
    done = shop.run("record", "-o", "a.log", *shop.program(name="odd.py"))
    told = done.stderr[done.stderr.index("replay-dd: recorded") :]  # before it, the program speaks for itself
    check_harmless(told)
    assert r"Odd\x1b]0;titl: \x1b]0;title\x07" in told
    done = shop.run("show", "a.log")
    check_harmless(done.stdout)
    done = shop.run("hunt", "--runs", "2", *shop.program(name="odd.py"))
    check_harmless(done.stdout)
    check_harmless(done.stderr)


def test_a_command_line_with_escapes(shop: Workshop) -> None:
    for arguments in (("show", f"no{EVIL[:-3]}"), (f"no{EVIL[:-3]}",), ("show", f"--no{EVIL[:-3]}")):
        done = shop.run(*arguments)
        assert done.status in (2, 5)
        check_harmless(done.stderr)


def test_there_is_one_way_to_the_terminal() -> None:
    found = []
    for path in (package_folder("replay_dd") / "cli").rglob("*.py"):
        if path.name in {"output.py", "start.py"}:  # the latter has not loaded the former yet
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name in {"click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write"}:
                found.append(f"{path.name}:{node.lineno}: {name}")
    assert not found


def test_logs_keep_what_they_had(evil_logs: dict[str, Path], shop: Workshop) -> None:
    log = read_log(evil_logs["schedule log"])
    assert log.ending.exceptions[0].text.endswith(EVIL)
    write_log(log, shop.folder / "again.log")
    assert read_log(shop.folder / "again.log") == log
