"""How the command line counts, and what a terminal gets to see."""

from __future__ import annotations

import os
import sys

import pytest

from replay_dd.cli.output import wants_color
from replay_dd.cli.progress import Progress
from replay_dd.cli.recordings import listed
from replay_dd.cli.replay_schedule import relocated_in_words
from tests.cli.tool import Workshop


@pytest.mark.parametrize(
    ("switches", "missed", "words"),
    [
        (0, 0, "no switches to relocate"),
        (1, 0, "1 switch, all relocated"),
        (3, 0, "3 switches, all relocated"),
        (3, 2, "3 switches, 2 not found"),
    ],
)
def test_relocated_switches(switches: int, missed: int, words: str) -> None:
    assert relocated_in_words(switches, missed) == words


@pytest.mark.parametrize(
    ("words", "sentence"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_in_a_sentence(words: list[str], sentence: str) -> None:
    assert listed(words) == sentence


@pytest.mark.parametrize(
    ("variables", "terminal", "wanted"),
    [
        ({"TERM": "xterm"}, True, True),
        ({"TERM": "xterm"}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True, True),
        ({}, True, True),
    ],
)
def test_colors(variables: dict[str, str], terminal: bool, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert wants_color(terminal) is wanted


@pytest.mark.parametrize(("term", "shown"), [("xterm", "\rtest 1\r      \r"), ("dumb", "")])
def test_progress_is_a_line_that_is_written_over(
    term: str, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    progress = Progress()
    progress.show("test 1")
    progress.clear()
    assert capsys.readouterr().err == shown


@pytest.mark.once
def test_runs_that_do_not_replay_are_skipped_and_counted(shop: Workshop) -> None:
    """What each run does depends on how many came before."""
    shop.variables["COUNT"] = os.fspath(shop.folder.parent / "count")
    shop.write(
        """
        import os, threading
        with open(os.environ["COUNT"], "a") as file:
            file.write("x")
        def work():
            for _ in range(os.path.getsize(os.environ["COUNT"])):
                len(threads)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """
    )
    done = shop.run("hunt", "--no-fork", "--jobs", "1", "--runs", "3", *shop.program())
    assert "replay-dd: 1 run skipped: its replay diverged\n" in done.stderr
