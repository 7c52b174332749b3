"""`--html`, `--trace` and `--stacks`: what they write, what they run, and what they never run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.forked import CommandServer
from tests.cli.test_strangers import PROGRAM, changed, clear, has_run
from tests.cli.tool import READ, WRITE, Workshop, make_workshop

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def hunted(tmp_path_factory: pytest.TempPathFactory, commands: CommandServer) -> Workshop:
    """A workshop with a program that leaves a trace, and logs of it."""
    shop = make_workshop(tmp_path_factory.mktemp("pages"), commands)
    shop.write(PROGRAM)
    done = shop.run("hunt", "--jobs", "1", "--html", "hunt.html", *shop.program())
    assert done.status == 0, done.stderr
    return shop


@pytest.fixture
def made(hunted: Workshop) -> Workshop:
    """The same, without what other tests have left."""
    hunted.write(PROGRAM)
    clear(hunted)
    for path in hunted.folder.glob("a.*"):
        path.unlink()
    return hunted


def page(shop: Workshop, name: str) -> str:
    text = (shop.folder / name).read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    return text


def test_an_isolated_switch_as_page_and_trace(made: Workshop) -> None:
    done = made.run(
        "schedules", "--html", "a.html", "--trace", "a.json", "--json", "--experiments", "0", "pass.log", "fail.log"
    )
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout)["answer"]["story"]["kind"] == "lost update"
    text = page(made, "a.html")
    for words in ("Race on Account.balance", "lost update", "replay-dd replay minimal-fail.log", "balance is 1"):
        assert words in text
    assert "before = account.balance" in text, "the source lines are there"
    trace = json.loads((made.folder / "a.json").read_text())
    names = [event["name"] for event in trace["traceEvents"]]
    assert names.count("process_name") == 2
    assert any(name.startswith("Account.balance: stores 1") for name in names)


def test_pages_of_other_results(made: Workshop) -> None:
    assert "schedules pass.log fail.log" in page(made, "hunt.html")
    assert made.run("minimize", "--html", "b.html", "fail.log").status == 0
    assert "choice" in page(made, "b.html")
    made.write("a\nBUG\nb\n", "in.txt")
    reduced = made.run("input", "--html", "c.html", "in.txt", "--", "sh", "-c", "! grep -q BUG {}")
    assert reduced.status == 0, reduced.stderr
    assert "in.txt: 3 of 8 bytes" in page(made, "c.html")


def test_showing_runs_nothing(made: Workshop) -> None:
    shown = made.run("show", "--html", "a.html", "--trace", "a.json", "fail.log")
    assert shown.status == 0, shown.stderr
    assert not has_run(made)
    assert "gives" not in shown.stderr
    assert "stops in line" in page(made, "a.html")
    assert json.loads((made.folder / "a.json").read_text())["traceEvents"]


def test_stacks_are_seen_in_a_replay(made: Workshop) -> None:
    shown = made.run("show", "--stacks", "--html", "a.html", "fail.log")
    assert shown.status == 0, shown.stderr
    assert has_run(made)
    assert f"prog.py:{READ + 1} in deposit" in shown.stdout or f"prog.py:{WRITE + 1} in deposit" in shown.stdout
    assert "is preempted before its yield point" in shown.stdout
    assert "reads 0" in page(made, "a.html"), "and values with them"
    stacks = json.loads(made.run("show", "--stacks", "--json", "fail.log").stdout)["stacks"]
    assert ["deposit"] in [[frame["function"] for frame in stack if frame["counted"]] for stack in stacks]
    assert not [frame for stack in stacks for frame in stack if "replay_dd" in frame["file"]], "none of our own"


def test_stacks_of_a_run_whose_accesses_are_not_counted(made: Workshop) -> None:
    assert made.run("record", "-o", "run.log", "--granularity", "sync", *made.program()).status == 0
    shown = made.run("show", "--stacks", "run.log")
    assert shown.status == 0, shown.stderr
    assert "in <module>" in shown.stdout


def test_stacks_of_another_program_are_not_shown(made: Workshop) -> None:
    made.write(PROGRAM + "\n")
    said = made.run_here("show", "--stacks", "--html", "a.html", "fail.log").refused(2, "program-changed")
    assert "prog.py" in said
    assert not has_run(made)
    assert not (made.folder / "a.html").exists()


def test_a_strangers_log_is_shown_but_not_run(made: Workshop) -> None:
    changed(made.folder / "fail.log", Path(made.folder / "x.log"), {"recording": {"strategy": "<b>theirs</b>"}})
    assert made.run("show", "--html", "a.html", "x.log").status == 0
    assert "&lt;b&gt;theirs&lt;/b&gt;" in page(made, "a.html")
    made.run_here("show", "--stacks", "x.log").refused(2, "not-made-here")
    assert not has_run(made)
    assert made.run("show", "--stacks", "--yes", "x.log").status == 0
    assert has_run(made)
