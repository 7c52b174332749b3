"""``replay-dd input``: results, and what goes wrong in words."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

FINDS_B = ["--", "sh", "-c", "! grep -q b {}"]


@pytest.fixture
def letters(shop: Workshop) -> Workshop:
    (shop.folder / "letters.txt").write_bytes(b"a\r\nabc\r\nd\r\n")
    return shop


def test_the_answer_in_words_and_as_a_file(letters: Workshop) -> None:
    done = letters.run("input", "letters.txt", *FINDS_B)
    assert (done.status, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["letters.txt fails with 1 of its 11 bytes:", "  b", ""]
    assert "failure      exit status 1" in lines
    assert [line.split(",")[0] for line in lines if line.startswith(("subtrees", "characters"))] == [
        "subtrees     1 of 3",
        "characters   1 of 5",
    ]
    assert "proof        fresh runs: 3 of 3 fail" in lines
    assert "failing      letters-minimal.txt" in lines
    assert (letters.folder / "letters-minimal.txt").read_bytes() == b"b"
    assert (letters.folder / "letters.txt").read_bytes() == b"a\r\nabc\r\nd\r\n"


def test_the_answer_for_machines(letters: Workshop, project: Path) -> None:
    done = letters.run("input", "letters.txt", "--json", "-o", "out/x", "--units", "lines", "--jobs", "2", *FINDS_B)
    answer = json.loads(done.stdout)
    import replay_dd

    schema = Path(replay_dd.__file__).parent / "report" / "isolation.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text()))
    assert (answer["circumstance"], answer["deltas"]["before"], answer["deltas"]["left"]) == ("input", 3, 1)
    assert (answer["answer"]["failing"], answer["answer"]["bytes_before"]) == ("abc\r\n", 11)
    assert answer["files"] == {"failing": "out/x"}
    assert (letters.folder / "out" / "x").read_bytes() == b"abc\r\n"


def test_the_chart(letters: Workshop) -> None:
    done = letters.run("input", "letters.txt", "--plot", "out/chart.svg", *FINDS_B)
    assert "plot         out/chart.svg" in done.stdout
    assert "letters.txt: 11 to 1 bytes" in (letters.folder / "out" / "chart.svg").read_text()


def test_a_difference(letters: Workshop) -> None:
    (letters.folder / "good.txt").write_bytes(b"a\r\nac\r\nd\r\ne")
    done = letters.run("input", "letters.txt", "--passing", "good.txt", *FINDS_B)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "The difference between passing and failing is 1 character:\n  line 2, column 2: 'b' inserted\n"
    )
    assert (letters.folder / "letters-failing.txt").read_bytes().startswith(b"a\r\nabc\r\nd\r\n")
    assert (letters.folder / "letters-passing.txt").read_bytes().startswith(b"a\r\nac\r\nd\r\n")


def test_the_difference_to_nothing(letters: Workshop) -> None:
    done = letters.run("input", "letters.txt", "--isolate", "-o", "x.txt", *FINDS_B)
    assert done.status == 0
    failing, passing = ((letters.folder / name).read_bytes() for name in ("x.txt", "x-passing.txt"))
    assert (failing.count(b"b"), passing) == (1, failing.replace(b"b", b""))


@pytest.mark.parametrize(
    ("arguments", "status", "slug", "said"),
    [
        (["nowhere", *FINDS_B], 5, "input-unusable", "nowhere cannot be read: No such file"),
        (["empty", *FINDS_B], 5, "input-unusable", "empty"),
        ([".", *FINDS_B], 2, "usage", "directory"),
        (["letters.txt", "--", "cat", "{}"], 3, "does-not-fail", "letters.txt: exit status 0"),
        (["letters.txt", "--", "false", "{}"], 3, "does-not-pass", "empty input"),
        (["letters.txt", "--", "false"], 3, "does-not-pass", "write {} where the path"),
        (["letters.txt", "--", "no-such-program", "{}"], 2, "program-not-found", "no-such-program"),
        (["letters.txt", "--", "python", "nowhere.py", "{}"], 2, "program-not-found", "nowhere.py"),
        (["letters.txt", "--", "cat", "letters.txt"], 2, "usage", "names letters.txt itself"),
        (["letters.txt"], 2, "usage", "CMD"),
        (["letters.txt", "-o", "empty/x", *FINDS_B], 5, "output-unwritable", "empty/x"),
        (["letters.txt", "-o", "letters.txt", *FINDS_B], 2, "usage", "overwrite"),
        (["letters.txt", "--units", "sentences", *FINDS_B], 2, "usage", "lines, tokens, words"),
        (["letters.txt", "--units", "tree", *FINDS_B], 2, "usage", "which language"),
        (["letters.txt", "--units", "tree", "--language", "klingon", *FINDS_B], 2, "software-missing", "klingon"),
        (["letters.txt", "--units", "tokens", "--language", "klingon", *FINDS_B], 2, "usage", "klingon"),
        (["letters.txt", "--language", "python", *FINDS_B], 2, "usage", "`--units tree`"),
        (["letters.txt", "--isolate", "--units", "brackets", *FINDS_B], 2, "usage", "no tree"),
        (["letters.txt", "--grep", "(", *FINDS_B], 2, "usage", "regular expression"),
        (["letters.txt", "--grep", "nothing like this", "--", "false"], 3, "does-not-fail", "exit status 1"),
        (["letters.txt", "--grep", "x", "--script", *FINDS_B], 2, "usage", "not both"),
        (["letters.txt", "--delimiter", "(", *FINDS_B], 2, "usage", "regular expression"),
        (["letters.txt", "--passing", "nowhere", *FINDS_B], 5, "input-unusable", "nowhere"),
        (["letters.txt", "--passing", "letters.txt", *FINDS_B], 3, "no-difference", "same"),
        (["letters.txt", "--passing", "bad.txt", *FINDS_B], 3, "does-not-pass", "passing input"),
        (["letters.txt", "--prevents", *FINDS_B], 2, "usage", "--options"),
        (["letters.txt", "--options", "-a", "--units", "lines", *FINDS_B], 2, "usage", "--units"),
        (["letters.txt", "--options", "-a", "--isolate", *FINDS_B], 2, "usage", "--isolate"),
        (["letters.txt", "--options", "'", *FINDS_B], 2, "usage", "cannot be read"),
        (["letters.txt", "--options", " ", *FINDS_B], 2, "usage", "no options"),
        (["letters.txt", "--environment", "NOWHERE", *FINDS_B], 2, "usage", "NOWHERE"),
        (["letters.txt", "--options", "x", *FINDS_B], 3, "does-not-pass", "without any option"),
        (["letters.txt", "--options", "-n", "--", "cat"], 3, "does-not-fail", "exit status 0"),
        (["letters.txt", "--prevents", "--options", "x", *FINDS_B], 3, "does-not-pass", "With all options"),
        (["letters.txt", "--prevents", "--options", "-n", "--", "cat"], 3, "does-not-fail", "Without any option"),
        (["letters.txt", "--isolate", "--algorithm", "ddmin", *FINDS_B], 2, "usage", "dd"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, slug: str, said: str, letters: Workshop) -> None:
    (letters.folder / "empty").touch()
    (letters.folder / "bad.txt").write_text("b")
    before = sorted(letters.folder.iterdir())
    assert said in letters.run("input", *arguments).refused(status, slug)
    assert sorted(letters.folder.iterdir()) == before


def test_options_that_a_failure_needs_and_that_prevent_it(letters: Workshop, project: Path) -> None:
    grep = ["--", "grep", "-c", "B", "{}"]
    done = letters.run("input", "letters.txt", "--prevents", "--options", "-n -v -h", *grep)
    assert done.status == 0, done.stderr
    assert done.stdout.startswith("1 option of 3 prevents the failure:\n  -v\n")
    sed = ["--", "sh", "-c", 'case "$*" in *-a*-c\\ 3*) exit 4; esac', "sh", "{options}", "last"]
    answer = json.loads(letters.run("input", "letters.txt", "--json", "--options", "-a -b -c 3 -d", *sed).stdout)
    assert (answer["circumstance"], answer["answer"]["options"]) == ("options", ["-a", "-c 3"])
    assert answer["failure"] == "exit status 4"
    (letters.folder / "strict.py").write_text("import sys; sys.exit(sys.flags.isolated)")
    python = ["--", sys.executable, "{options}", "strict.py"]
    done = letters.run("input", "letters.txt", "--options", "-B -I -q", *python)
    assert done.stdout.startswith("The failure needs 1 option of 3:\n  -I\n"), done.stderr


def test_variables(letters: Workshop) -> None:
    letters.variables.update(ONE="1", TWO="2")
    test = ["--", "sh", "-c", 'test -z "$TWO"']
    for names in ("ONE,TWO", "all"):
        done = letters.run("input", "letters.txt", "--environment", names, *test)
        assert done.status == 0, done.stderr
        assert "  TWO=2\n" in done.stdout
        assert done.stdout.startswith("The failure needs 1 variable of ")
    both = letters.run("input", "letters.txt", "--environment", "ONE,TWO", "--options", "-x", *test)
    assert both.stdout.startswith("The failure needs 1 setting of 3:\n  TWO=2\n")


def test_ctrl_c_keeps_the_best_so_far(shop: Workshop) -> None:
    """The first run of a single line waits: that is the second test, after the last line was left out."""
    (shop.folder / "letters.txt").write_text("a\nb\nc\nd\n")
    begun = shop.folder / "begun"
    shop.variables = {"BEGUN": str(begun)}
    script = 'test $(wc -l < "$0") -eq 1 && touch "$BEGUN" && sleep 600; ! grep -q b "$0"'
    process = shop.start("input", "letters.txt", "--jobs", "1", "--", "sh", "-c", script, "{}")
    shop.wait_for(begun, process)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")
    assert "the search was stopped by Ctrl-C; this is the best result so far" in stdout
    assert (shop.folder / "letters-minimal.txt").read_text() == "a\nb\nc\n"
    shop.check_clean()
