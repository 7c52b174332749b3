"""Inputs of real programs, reduced and isolated; with the published results of the literature where they apply."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from replay_dd.circumstance import Found
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import InputError, NoDifferenceError, UsageError
from replay_dd.experiment.driver import Observer
from replay_dd.experiment.ending import MATCH, Ending, Oracle
from replay_dd.experiment.process import Finished
from replay_dd.input.circumstance import InputUnits
from replay_dd.input.levels import course, levels_named
from replay_dd.input.program_runs import note_of_other_words
from replay_dd.input.reduce import InputIsolation, reduce_input
from replay_dd.input.target import Target
from replay_dd.input.units import BYTES, CHARACTERS, LINES, delimited
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import search_as_text

# "Isolating Failure Causes", the line that crashed Mozilla when printed; grep stands for the browser.
SELECT = b'<SELECT NAME="priority" MULTIPLE SIZE=7>'
PRINTS = Target(("sh", "-c", "! grep -q '<SELECT.*>' \"$0\"", "{}"), "page.html")
LOAD = "import sys, yaml; yaml.safe_load(open(sys.argv[1], 'rb'))"
CONFIGURATION = "".join(f"- name: n{number}\n  date: 2024-01-{number:02}\n" for number in range(1, 30)).encode()


def load_yaml() -> Target:
    return Target((sys.executable, "-c", LOAD, "{}"), "a.yaml")


def levels(found: InputIsolation) -> list[tuple[str, int, int, int]]:
    return [(stage.unit, stage.before, stage.left, stage.tests) for stage in found.isolation.stages]


def test_the_line_of_the_slides_is_simplified() -> None:
    found = reduce_input(SELECT, PRINTS, levels=[CHARACTERS], algorithm="ddmin")
    assert found.failing == b"<SELECT>"
    fewer = reduce_input(SELECT, PRINTS, levels=[CHARACTERS])
    assert fewer.failing == b"<SELECT>"
    assert fewer.isolation.tests < 48, "the slides needed 48"


def test_the_line_of_the_slides_is_isolated() -> None:
    found = reduce_input(SELECT, PRINTS, levels=[CHARACTERS], passing=b"")
    assert (found.passing, found.failing) == (SELECT[1:], SELECT)
    assert levels(found) == [("character", 40, 1, 5)], "as on the slides"
    assert (found.isolation.proof.failing.failed, found.isolation.proof.passing.failed) == (3, 0)


def test_a_few_units_that_are_mostly_needed_are_not_bisected() -> None:
    needed = Target(("sh", "-c", "test $(grep -c '[^cms]' {}) -lt 17"), "letters")
    found = reduce_input("".join(f"{letter}\n" for letter in "abcdefghijklmnopqrst").encode(), needed, levels=[LINES])
    assert found.failing.split() == list(map(str.encode, "abdefghijklnopqrt"))
    assert levels(found)[0][3] <= 70, "bisection needs 89"


def test_a_page_of_896_lines() -> None:
    lines = [b'<td align=left valign=top nowrap="x%d">\n' % number for number in range(896)]
    lines[600] = SELECT + b"\n"
    found = reduce_input(b"".join(lines), PRINTS, levels=[LINES, CHARACTERS])
    assert found.failing == b"<SELECT>"
    (line, before, left, tests), _ = levels(found)
    assert (line, before, left) == ("line", 896, 1)
    assert tests <= 57, "ISSTA 2000 needed 57"
    assert found.isolation.verified


def test_a_library_with_any_number_of_jobs() -> None:
    broken = CONFIGURATION.replace(b"2024-01-20", b"2024-01-32")
    found, parallel = (reduce_input(broken, load_yaml(), jobs=jobs) for jobs in (1, 3))
    assert (found.failing, found.passing) == (b"2024-01-32", None)
    said = (
        "day 32 must be in range 1..31 for month 1" if sys.version_info >= (3, 14) else "day is out of range for month"
    )
    assert f"ValueError: {said}" in found.first.words
    assert (parallel.failing, parallel.isolation.steps) == (found.failing, found.isolation.steps)


def test_two_versions_of_a_file() -> None:
    broken = CONFIGURATION.replace(b"2024-01-20", b"2024-01-40").replace(b"n3", b"m3").replace(b": n20\n", b": N20\n")
    found = reduce_input(broken, load_yaml(), passing=CONFIGURATION)
    assert [unit for unit, *_ in levels(found)] == ["hunk", "line", "character"]
    assert found.passing is not None
    differ = [at for at, (one, other) in enumerate(zip(found.passing, found.failing, strict=True)) if one != other]
    assert [found.failing[at - 9 : at + 1] for at in differ] == [b"  date: 2024-01-4"[-10:]]
    assert found.isolation.circumstance.words(0) == "line 40, column 17: '2' becomes '4'"


def test_another_failure_is_unresolved() -> None:
    content = b"a: {b: [\n2024-01-32,\n]}\n"
    found = reduce_input(content, load_yaml(), levels=[LINES, CHARACTERS])
    assert found.failing == b"{b:[2024-01-32]}", "brackets can only go in pairs"
    found = reduce_input(content, load_yaml())
    assert found.failing == b"2024-01-32"
    unresolved = [judgement.words for judgement, _ in found.isolation.unresolved]
    assert any("ParserError" in words for words in unresolved)


PROGRAM = b"""\
import os

pytestmark = pytest.mark.once


def first(value):
    return [value, {"a": (1, 2)}]


class Second:
    limit = 3

    def ask(self, question, *, times=2):
        for _ in range(times):
            if question:
                print(lambda: question)
        return None


Second().ask("why")
"""


@pytest.mark.parametrize("units", ["tree", "brackets", "lines,tokens", "words"])
def test_a_program_keeps_what_matters_whatever_its_units(units: str) -> None:
    """What is left is a program, in which a function is made in a loop."""
    check = (
        "import ast, sys; tree = ast.parse(open(sys.argv[1]).read());"
        "loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)];"
        "sys.exit(any(isinstance(node, ast.Lambda) for loop in loops for node in ast.walk(loop)))"
    )
    target = Target((sys.executable, "-c", check, "{}"), "program.py")
    found = reduce_input(PROGRAM, target, levels=levels_named(units, "program.py"))
    assert b"lambda" in found.failing
    assert b"for _ in" in found.failing
    assert b"import os" not in found.failing
    assert len(found.failing) < 80, found.failing


def test_a_tree_can_lose_all_nodes_of_a_depth() -> None:
    target = Target(("sh", "-c", "! grep -q '^(' {}"), "a.txt")
    found = reduce_input(b"(a, (b, c), d)\nx\n", target, levels=levels_named("brackets", "a.txt"))
    assert found.failing == b"()"


def test_a_difference_has_no_tree() -> None:
    with pytest.raises(UsageError, match="no tree"):
        reduce_input(b"(a)", PRINTS, passing=b"b", levels=levels_named("brackets", "a.txt"))


def test_standard_input_and_a_pattern() -> None:
    target = Target(("sed", "-n", "s/b/found/p"), "letters")
    found = reduce_input(b"a\nab\nc\n", target, oracle=Oracle(re.compile(b"found")))
    assert found.failing == b"b"
    assert found.first.words == "the output has: afound"


def test_what_ends_as_the_passing_input_passes_although_its_status_is_not_0() -> None:
    target = Target(("sh", "-c", "cat {}; exit 3"), "letters")
    found = reduce_input(b"abc", target, oracle=Oracle(re.compile(b"b")), passing=b"ac", levels=[CHARACTERS])
    assert (found.passing, found.failing) == (b"ac", b"abc")
    assert not found.isolation.unresolved


def test_a_script() -> None:
    # Not text at all: one byte, and nothing before it.
    script = 'grep -q "^x" "$0" && exit 125; grep -q "$(printf "\\377")" "$0" && exit 1; exit 0'
    target = Target(("bash", "-c", f"export LC_ALL=C; {script}", "{}"), "data")
    found = reduce_input(b"\xfe\r\n\xffx\n", target, oracle=Oracle(script=True), levels=[LINES, BYTES])
    assert found.failing == b"\xff"


def test_a_program_that_does_not_end() -> None:
    target = Target(("sh", "-c", "grep -q loop {} && sleep 600; true"), "letters", time_limit_s=0.5)
    found = reduce_input(b"a loop", target, levels=[delimited(" ")])
    assert found.failing == b"loop"
    assert found.first.words.startswith("still running after ")
    assert found.isolation.failure.words.startswith(
        "still running after 0.5 s"
    )  # though runs of the search go on for longer


def test_a_changed_message_is_noted() -> None:
    target = Target(("sh", "-c", "grep -q one {} && echo one one || echo two two; exit 1"), "letters")
    with pytest.raises(DoesNotPassError):
        reduce_input(b"one\ntwo\n", target)
    target = Target(("sh", "-c", "test -s {} || exit 0; grep -q one {} && echo one || echo two; exit 1"), "letters")
    found = reduce_input(b"one\ntwo\n", target, levels=[LINES], algorithm="ddmin")
    assert found.failing == b"one\n"
    assert not found.all_notes
    other = reduce_input(b"two\none\n", target, levels=[LINES], algorithm="ddmin")
    assert other.failing == b"two\n"
    assert len(other.all_notes) == 1
    assert "exit status 1: one" in other.all_notes[0]
    # Of what a pattern matches, only that counts, not the rest of the line.
    shows = Target(("cat", "{}"), "a.txt")
    oracle = Oracle(re.compile(rb"one|not"))
    assert not reduce_input(b"a\nthis one\nb\n", shows, oracle=oracle, levels=[CHARACTERS]).all_notes
    one, other = (Ending(Outcome.FAIL, MATCH, f"the output has: {text}", text) for text in ("one", "not"))
    (note,) = note_of_other_words(other, one)
    assert "let `--grep` match only the first one" in note
    # Its name is another one in each run, so it tells nothing.
    names = Target(("sh", "-c", "! grep -q x {} || { head -c 20 /dev/urandom | base64; exit 1; }"), "a.txt")
    assert not reduce_input(b"a\nx\nb\n", names, levels=[LINES]).all_notes


def test_programs_that_write_files_run_one_at_a_time(tmp_path: Path) -> None:
    target = Target(("sh", "-c", "cp {} here; ! grep -q b here"), "letters", directory=tmp_path)
    found = reduce_input(b"a\nb\nc\n", target, jobs=4)
    assert found.failing == b"b"
    assert "--fresh-copy" in found.notes[0]
    target.fresh_copy = True
    assert not reduce_input(b"a\nb\nc\n", target, jobs=4).notes


@pytest.mark.parametrize("fresh_copy", [False, True])
def test_programs_that_want_the_same_port_run_one_at_a_time(fresh_copy: bool, tmp_path: Path, unused_port: int) -> None:
    listens = f"""
import socket, sys, time
with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", {unused_port}))
    listener.listen()
    time.sleep(0.5)
assert "b" not in open(sys.argv[1]).read()
"""
    target = Target((sys.executable, "-c", listens, "{}"), "letters", directory=tmp_path, fresh_copy=fresh_copy)
    found = reduce_input(b"a\nb\nc\n", target, jobs=4, levels=[LINES])
    assert found.failing == b"b\n"
    assert "in use" in found.isolation.baseline.disturbed
    assert any("one at a time" in line for line in search_as_text(found.isolation))


def test_a_program_that_finds_its_own_files_is_to_have_a_fresh_copy(tmp_path: Path) -> None:
    """All runs but the first one fail for another reason, whatever the input is."""
    script = "if [ -e lock ]; then echo error: locked; exit 1; fi; : > lock; grep -q b {} && echo error: b && exit 1"
    target = Target(("sh", "-c", f"{script}; exit 0"), "letters", directory=tmp_path)
    with pytest.raises(DoesNotPassError) as told:
        reduce_input(b"a\nb\nc\n", target, jobs=2)
    assert "--fresh-copy" in told.value.hint
    (tmp_path / "lock").unlink()
    target.fresh_copy = True
    assert reduce_input(b"a\nb\nc\n", target, jobs=2).failing == b"b"


def test_nothing_of_the_search_stays_in_the_original(tmp_path: Path) -> None:
    target = Target(("sh", "-c", "echo > {}; exit 1"), "letters", directory=tmp_path)
    with pytest.raises(DoesNotPassError, match="on an empty input"):
        reduce_input(b"a\nb\n", target)
    assert list(tmp_path.iterdir()) == []


def test_inputs_that_cannot_be_reduced() -> None:
    with pytest.raises(DoesNotFailError, match=r"does not fail on page\.html: exit status 0"):
        reduce_input(b"nothing\n", PRINTS)
    with pytest.raises(DoesNotPassError, match="empty input"):
        reduce_input(b"a", Target(("false",), "a"))
    with pytest.raises(NoDifferenceError) as told:
        reduce_input(SELECT, PRINTS, passing=SELECT)
    assert "on which the program passes" in told.value.hint, "no run has passed or failed yet"
    with pytest.raises(DoesNotPassError, match="passing input"):
        reduce_input(SELECT, PRINTS, passing=b"x" + SELECT)
    with pytest.raises(InputError):
        reduce_input(b"", PRINTS)


def test_a_limit_keeps_the_best_so_far() -> None:
    found = reduce_input(SELECT * 20, PRINTS, max_tests=3)
    assert found.isolation.stopped_by == "tests"
    assert b"<SELECT" in found.failing
    assert len(found.failing) < len(SELECT * 20)


def test_progress_tells_the_unit() -> None:
    units = []
    reduce_input(b"a\n" + SELECT, PRINTS, observer=Observer(lambda record: units.append(record.unit)))
    assert list(dict.fromkeys(units)) == ["subtree", "word", "name", "character", "row"]


def test_a_flaky_program_is_measured_and_repeated(tmp_path: Path) -> None:
    # It fails every second time.
    count = tmp_path / "count"
    script = f'echo >> {count}; test $(($(wc -l < {count}) % 2)) = 1 && grep -q b "$0" && exit 1; exit 0'
    found = reduce_input(b"a\nb\n", Target(("bash", "-c", script, "{}"), "x"), levels=[LINES])
    assert found.failing == b"b\n"
    assert found.isolation.baseline.repeat > 1
    assert found.isolation.baseline.rate.failed < found.isolation.baseline.rate.runs


def test_the_driver_may_search_again_from_the_first_level() -> None:
    begin = partial(course, SELECT, None, [LINES, CHARACTERS])
    first = InputUnits(PRINTS, Oracle(), next(begin()), begin, isolate=False, algorithm="bisection")
    found = Found(first.universe, None)
    for _ in range(2):
        second = first.refine(found, found)
        assert second is not None
        assert (first.delta, second.delta, second.universe.count) == ("line", "character", len(SELECT))
        assert second.refine(Found(second.base, None), Found(second.universe, None)) is None


def test_the_outcomes_are_told() -> None:
    outcomes = {record.outcome for record in reduce_input(SELECT, PRINTS).isolation.steps}
    assert outcomes == {Outcome.PASS, Outcome.FAIL}


class Slow(Target):
    """A program that takes a quarter of its time limit for each character."""

    def run(
        self,
        content: bytes,
        *,
        more: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
        longer: float = 1.0,
        looks: bool = False,
    ) -> Finished:
        took = len(content) / 4
        timed_out = took >= longer
        place = f"p+0x1{len(content)}: {'many' if len(content) > 9 else 'few'} (p.c:{len(content)})"
        return Finished(None if timed_out else 0, None, timed_out, min(took, longer), b"", place if looks else "")


def test_what_does_not_end_in_time_is_not_reduced_to_what_just_does_not() -> None:
    found = reduce_input(b"abcdefghijklmnopqrst", Slow(("slow",), "a", time_limit_s=1.0), levels=[CHARACTERS])
    assert len(found.failing) == 6, "half as long again as the limit"
    assert found.isolation.verified
    # Only the evidence is looked at, and says where; the whole input hangs elsewhere.
    assert found.isolation.failure.words == "still running after 1 s in p+0x16: few (p.c:6)"
    assert found.said_at_first == "still running after 1.0 s in p+0x120: many (p.c:20)"
    stopped = reduce_input(b"abcdefghijklmnopqrst", Slow(("slow",), "a", time_limit_s=1.0), max_tests=3)
    said = "still running after 1 s (with the whole input in p+0x120: many (p.c:20))"
    assert stopped.isolation.failure.words == said
    slower = reduce_input(b"abcde", Slow(("slow",), "a", time_limit_s=1.0), levels=[CHARACTERS])
    assert len(slower.failing) == 4, "the whole is not that slow itself"
    default = reduce_input(b"abcdefghijklmnopqrst", Slow(("slow",), "a"), levels=[CHARACTERS])
    assert len(default.failing) == 4, "the default limit is long enough"
    passing = reduce_input(b"abcdefgh", Slow(("slow",), "a", time_limit_s=1.0), levels=[CHARACTERS], passing=b"a")
    assert len(passing.failing) == 4
