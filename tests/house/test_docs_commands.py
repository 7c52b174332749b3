"""The commands in the documents work, and print what the documents show (see tools/documents.py for the rules)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tools.documents import Step, agrees, do, documents, refreshed, steps_of

# The documents show what this version of Python does; another one has other yield points.
SHOWN_VERSION = (3, 11)


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_commands(document: Path, tmp_path: Path) -> None:
    for step in steps_of(document.read_text(encoding="utf-8")):
        done = do(step, tmp_path)
        if done is None:
            continue
        printed = "\n".join(done.lines)
        assert done.status == step.status, f"ended with {done.status}, not {step.status}:\n$ {step.text}\n{printed}"
        if step.shown and step.compared and sys.version_info[:2] == SHOWN_VERSION:
            shown = "\n".join(step.shown)
            assert agrees(step.shown, done.lines), f"shown:\n{shown}\nprinted:\n$ {step.text}\n{printed}"


def test_how_a_document_is_read() -> None:
    text = (
        "# Title\n\n```console\n$ one\nseen\n> too\n$ two \\\n> more\n```\n\n"
        "<!-- exit: 1 -->\n<!-- not compared: a reason -->\n```console\n$ three\n$ four\nseen\n```\n"
        "<!-- not run: needs a network -->\n```console\n$ five\n```\n"
        "<!-- file: program.py -->\n```python\nprint()\n```\n\n```python\nnot = 'written'\n```\n"
    )
    steps = steps_of(text)
    assert [text[slice(*step.place)] for step in steps] == ["seen\n> too\n", "", "", "seen\n", ""]
    assert [Step(step.text, step.status, step.file, step.shown, step.compared) for step in steps] == [
        Step("one", shown=("seen", "> too")),
        Step("two \\\nmore"),
        Step("three", compared=False),
        Step("four", status=1, shown=("seen",), compared=False),
        Step("print()\n", file="program.py"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a", "a", True),
        ("a", "b", False),
        ("a", "a|b", False),
        ("a|...", "a|b|c", True),
        ("...|c", "a|b", False),
        ("12 tests, 0.7 s", "9 tests, 10 s", True),
        ("python 3.11.7", "python 3.12", True),
        ("digest f9b49f430e486acd", "digest 0123456789abcdef", True),
        ("      20  0-20 │", "  20  0-9   │", True),
        ("at desk.py:9 in write", "at desk.py:10 in write", False),
        ("thread 0.1 waits", "thread 0.2.1 runs", False),
    ],
)
def test_what_agrees(shown: str, printed: str, same: bool) -> None:
    assert agrees(tuple(shown.split("|")), tuple(printed.split("|"))) == same


def test_a_document_is_refreshed_where_it_shows_something() -> None:
    text = "```console\n$ echo one; echo two 8 s\nolder\ntwo 7.1 s\n$ echo three\n$ echo 4\n...\n"
    text += "$ printf '%s\\n' begin 'got 7 of 9' 'took 3 s' end\n...\ngot 5 of 9\ntook 8 s\n...\n```\n"
    text += "<!-- not compared: so -->\n"
    text += "```console\n$ echo five\nsix\n```\n"
    new = text.replace("older\n", "one\n").replace("got 5", "got 7").replace("took 8", "took 3")
    assert refreshed(text) == new


@pytest.mark.parametrize(
    ("old", "new", "stays"),
    [
        ("26 runs, 49.8 s", "26 runs, 9.9 s", "26 runs, 9.9 s"),
        ("26 runs, 9.9 s", "26 runs, 49.8 s", "26 runs, 9.9 s"),
        ("26 runs, 9.9 s", "27 runs, 49.8 s", "27 runs, 49.8 s"),
        ("tests 8 s, proof 3 s", "tests 9 s, proof 1.5 s", "tests 9 s, proof 1.5 s"),
        (f"commit {'a' * 40}", f"commit {'b' * 40}", f"commit {'a' * 40}"),
    ],
)
def test_the_shorter_time_stays(old: str, new: str, stays: str) -> None:
    assert refreshed(f"```console\n$ echo {new}\n{old}\n```\n") == f"```console\n$ echo {new}\n{stays}\n```\n"


LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)]*))?\)")
HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


def anchors(text: str) -> set[str]:
    """What headings are called in links, as on GitHub."""
    names = (re.sub(r"[^\w\- ]", "", match["text"].lower()).replace(" ", "-") for match in HEADING.finditer(text))
    return set(names)


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_links_lead_somewhere(document: Path) -> None:
    for match in LINK.finditer(document.read_text(encoding="utf-8")):
        target = document.parent / match["target"] if match["target"] else document
        if "://" in match["target"] or match["target"].startswith("mailto:"):
            continue
        assert target.exists(), match[0]
        # Not into the packages: the tests of an installed package run without their sources.
        assert target.resolve().relative_to(PROJECT).parts[:1] not in {("replay_dd",), ("recorders",)}, match[0]
        if match["anchor"]:
            assert match["anchor"] in anchors(target.read_text(encoding="utf-8")), match[0]
