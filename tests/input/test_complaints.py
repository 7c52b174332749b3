"""Programs that end with the same exit status for every failure."""

from __future__ import annotations

import json
import sys

import pytest

from replay_dd.errors.program import DoesNotPassError
from replay_dd.experiment.ending import Oracle
from replay_dd.input.levels import default_levels
from replay_dd.input.records import RECORDS
from replay_dd.input.reduce import InputIsolation, reduce_input
from replay_dd.input.several import SeveralFailures, reduce_all
from replay_dd.input.target import Target
from replay_dd.input.units import BYTES, LINES

pytestmark = pytest.mark.once

LOADER = """
import sys

lines = open(sys.argv[1]).read().splitlines()
if not lines or lines[0] != "version":
    sys.exit("load: missing header" + LAST)
said = [f"load: port {line[5:]} is out of range" for line in lines if line.startswith("port=9")]
said += [f"load: unknown key {line}" for line in lines if line.startswith("key")]
if said:
    sys.exit("\\n".join(said) + LAST)
"""
LAST = "\\nload: cannot go on"
FILE = b"version\n" + b"".join(b"[host]\nname=n\nport=80\n" for _ in range(2)) + b"port=99\nname=z\n"


def loader(last: str = "") -> Target:
    return Target((sys.executable, "-c", LOADER.replace("LAST", f"'{last}'"), "{}"), "hosts.conf")


def reduced(content: bytes, last: str = "") -> InputIsolation:
    return reduce_input(content, loader(last))


@pytest.mark.parametrize("last", ["", LAST], ids=["one complaint", "two complaints"])
def test_another_complaint_is_another_failure(last: str) -> None:
    """Without its header the file fails with the same status; so does an empty one, with the same last line."""
    found = reduced(FILE, last)
    assert found.failing == b"version\nport=9"
    assert found.isolation.failure.words == "exit status 1: load: port 9 is out of range"
    assert not found.all_notes


def test_a_line_that_points_at_a_place_is_no_complaint() -> None:
    """As `sqlite3` does it: the same line follows a syntax error and a name that is not there."""
    program = """
import sys
words = open(sys.argv[1]).read().split()
if words.count("begin") > words.count("end"):
    sys.exit(f"near {words[-1]}: syntax error\\n  {words[-1]}\\n  ^--- error here")
if "lost" in words:
    sys.exit("no such column: lost\\n  lost\\n  error here ---^")
"""
    target = Target((sys.executable, "-c", program, "{}"), "file")
    assert reduce_input(b"begin one two end\nbegin three lost four end\n", target).failing == b"lost"


def test_a_failure_that_an_empty_input_shows_is_refused() -> None:
    with pytest.raises(DoesNotPassError, match="missing header"):
        reduced(b"port=80\n" * 5)


def test_what_varies_from_run_to_run_does_not_count() -> None:
    program = (
        "import os, sys; word = ''.join(chr(ord('a') + byte % 26) for byte in os.urandom(16));"
        "sys.exit(f'error {word}' if 'x' in open(sys.argv[1]).read() else 0)"
    )
    found = reduce_input(b"a x b", Target((sys.executable, "-c", program, "{}"), "file"))
    assert found.failing == b"x"


def test_the_rest_of_a_cause_stays_where_every_input_needs_it() -> None:
    target, oracle = loader(), Oracle()

    def all_of(content: bytes) -> SeveralFailures:
        return reduce_all(
            content, target, oracle, lambda whole, tests, seconds: reduce_input(whole, target, levels=[LINES])
        )

    several = all_of(FILE)
    assert len(several.found) == 1
    assert several.rest is not None
    assert several.rest.words == "exit status 0"
    several = all_of(FILE + b"key=k\n" + FILE[-15:])
    kinds = [one.isolation.failure.words.partition(": load: ")[2].split()[0] for one in several.found]
    assert sorted(kinds) == ["port", "port", "unknown"]


ORDERS = """
import json, sys
data = json.load(open(sys.argv[1]))
kind = data["kind"]["name"]
assert kind == "orders"
for order in data["paid"]:
    1 / order["amount"]
for order in data["open"]:
    order["customer"].upper()
"""


def failures(**changes: object) -> tuple[list[str], str]:
    """The failures in a file of orders, and how the rest ends."""
    paid = [{"amount": amount, "note": "n"} for amount in (2, 1)]
    waiting = [{"customer": name, "note": "n"} for name in "ab"]
    whole = {"kind": {"name": "orders", "version": 1}, "paid": paid, "open": waiting} | changes
    target = Target((sys.executable, "-c", ORDERS, "{}"), "orders.json")
    several = reduce_all(
        json.dumps(whole, indent=1).encode(),
        target,
        Oracle(),
        lambda content, tests, seconds: reduce_input(content, target, levels=default_levels(content)[:1]),
    )
    assert several.rest is not None
    return [one.isolation.failure.words.split()[0].rstrip(":") for one in several.found], several.rest.words


def test_failures_behind_one_another_in_lists() -> None:
    """Without the whole cause, a file of orders is none any more; without single orders, it is."""
    paid = [{"amount": amount, "note": "n"} for amount in (2, 1, 0, 3)]
    waiting = [{"customer": name, "note": "n"} for name in ("a", 7, "b")]
    assert failures(paid=paid, open=waiting) == (["ZeroDivisionError", "AttributeError"], "exit status 0")


LENIENT = """
import json, sys
for order in json.load(open(sys.argv[1])).get("orders", []):
    assert order.get("count", 1) > 0
    order["name"].upper()
"""


def test_a_rest_that_passes_without_the_whole_list_hides_no_other_failure_of_it() -> None:
    orders: list[dict[str, object]] = [{"name": name, "count": 1} for name in "abcdef"]
    orders[1]["count"] = 0
    del orders[4]["name"]
    target = Target((sys.executable, "-c", LENIENT, "{}"), "orders.json")
    several = reduce_all(
        json.dumps({"shop": "s", "orders": orders}, indent=1).encode(),
        target,
        Oracle(),
        lambda content, tests, seconds: reduce_input(content, target, levels=default_levels(content)[:1]),
    )
    kinds = [one.isolation.failure.words.split()[0].rstrip(":") for one in several.found]
    assert kinds == ["AssertionError", "KeyError"]


def test_that_a_required_member_is_missing_is_no_failure_of_the_input() -> None:
    found, _ = failures(kind={"name": "invoices", "version": 1})
    assert found == ["AssertionError"]


def test_text_with_a_null_byte_is_text() -> None:
    assert default_levels(b"one\ntwo\0\n" * 10) == (RECORDS, BYTES)  # of nine bytes each
    assert default_levels(b"one\ntwo\n" * 50 + b"\0")[0] != BYTES
    assert default_levels(b"one\ntwo\n" * 50 + b"\0\xff") == (BYTES,)


def test_the_first_error_of_a_compiler_stays_the_first() -> None:
    program = """
import sys
said = []
for number, line in enumerate(open(sys.argv[1]), 1):
    words = line.split()
    if words and words[0] != "let":
        said.append(f"rows:{number}: error: unknown statement")
    if "lost" in words:
        said.append(f"rows:{number}: error: no such name")
sys.exit("\\n".join(said))
"""
    target = Target((sys.executable, "-c", program, "{}"), "rows")
    assert reduce_input(b"let a b\nlet c lost d\nother\n", target).failing == b"let lost"


@pytest.mark.parametrize("content", [b"x\ny\n", b"y\nx\n"])
def test_who_says_nothing_fails_in_another_way_than_who_says_something(content: bytes) -> None:
    program = (
        "import sys; said = open(sys.argv[1]).read(); 'x' in said and sys.exit(1); 'y' in said and sys.exit('odd')"
    )
    assert reduce_input(content, Target((sys.executable, "-c", program, "{}"), "file")).failing == b"x"
