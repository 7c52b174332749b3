"""``replay-dd fuzz``."""

from __future__ import annotations

import json

import pytest

from tests.cli.schemas import checked
from tests.cli.tool import Workshop

FINDS_Q = ["--", "sh", "-c", "! grep -aq Q {}"]


def test_an_input_is_invented_and_reduced(shop: Workshop) -> None:
    done = shop.run("fuzz", "-o", "found.txt", "--length", "500", "--jobs", "2", *FINDS_Q)
    assert done.status == 0, done.stderr
    assert b"Q" in (shop.folder / "found.txt").read_bytes()
    assert (shop.folder / "found-minimal.txt").read_bytes() == b"Q"
    assert "fails with 1 of its" in done.stdout
    assert done.stderr.startswith("replay-dd: input ")
    assert "--ignore REGEX" in done.stderr


def test_mutations_of_a_file(shop: Workshop) -> None:
    (shop.folder / "seed.txt").write_text("PQR\n" * 20)
    one_line_less = ["--", "sh", "-c", "test $(grep -c PQR {}) -ge 19 || ! grep -q R {}"]
    done = shop.run("fuzz", "--from", "seed.txt", "-o", "found.txt", "--json", *one_line_less)
    assert done.status == 0, done.stderr
    assert json.loads(done.stdout)["circumstance"] == "input"
    assert b"R" in (shop.folder / "found-minimal.txt").read_bytes()


def test_inputs_that_are_rejected_are_no_failures(shop: Workshop) -> None:
    rejects = ["--", "sh", "-c", "grep -aq A {} && echo no A && exit 1; ! grep -aq Q {}"]
    done = shop.run("fuzz", "-o", "found.txt", "--length", "50", "--ignore", "no A", *rejects)
    assert done.status == 0, done.stderr
    found = (shop.folder / "found.txt").read_bytes()
    assert b"Q" in found
    assert b"A" not in found
    assert "--ignore" not in done.stderr, "it was given"


def test_nothing_fails(shop: Workshop) -> None:
    done = shop.run("fuzz", "-o", "found.txt", "--runs", "3", "--", "true")
    assert (done.status, done.stdout, done.stderr) == (1, "No failure in 3 inputs.\n", "")
    assert list(shop.folder.iterdir()) == []


def test_nothing_fails_within_the_time(shop: Workshop) -> None:
    done = shop.run("fuzz", "-o", "found.txt", "--time-budget", "0.001", "--json", "--", "true")
    assert (done.status, done.stderr) == (1, "")
    told = checked(done.stdout)
    assert told == {
        "format": "replay-dd fuzz",
        "version": 1,
        "failed": False,
        "inputs": 1,
        "seed": 0,
        "stopped_by": "time",
    }


@pytest.mark.parametrize(
    ("arguments", "status", "slug", "said"),
    [
        (["-o", "x", "--from", "nowhere", *FINDS_Q], 5, "input-unusable", "nowhere"),
        (["-o", "x", "--from", "empty", *FINDS_Q], 5, "input-unusable", "nothing to mutate"),
        (["-o", "empty/x", *FINDS_Q], 5, "output-unwritable", "empty/x"),
        (["-o", "x", "--", "no-such-program", "{}"], 2, "program-not-found", "no-such-program"),
        (["-o", "x", "--grep", "(", *FINDS_Q], 2, "usage", "regular expression"),
        (["-o", "x", "--ignore", "x", "--script", *FINDS_Q], 2, "usage", "--ignore"),
        (["-o", "x", "--", "false"], 3, "does-not-pass", "standard input"),
        (FINDS_Q, 2, "usage", "-o"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, slug: str, said: str, shop: Workshop) -> None:
    (shop.folder / "empty").touch()
    done = shop.run("fuzz", *arguments)
    assert f"[{slug}]" in done.stderr
    assert done.status == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr
