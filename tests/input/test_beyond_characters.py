"""What is tried beyond leaving out single characters: short names, other words, and what goes only together."""

from __future__ import annotations

import re
import sys

import pytest

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import DoesNotPassError
from replay_dd.experiment.ending import Oracle
from replay_dd.experiment.process import Finished
from replay_dd.input.brackets import bracket_tree
from replay_dd.input.levels import course
from replay_dd.input.names import names_of, shorter_names
from replay_dd.input.neighbours import neighbours
from replay_dd.input.reduce import InputIsolation, reduce_input
from replay_dd.input.reworded import common_words, reworded
from replay_dd.input.target import Target
from replay_dd.input.trees import everything
from replay_dd.input.units import CHARACTERS, LINES
from replay_dd.outcome import Outcome
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once

# A language in which a variable has a type, which is built in or declared, and is used once.
DECLARED = re.compile(rb"type ([a-z]+);|use ([a-z]+);|([a-z]+) ([a-z]+);")


def uses_a_variable(text: bytes) -> bool:
    """Whether a program is right and uses a variable."""
    types, variables, used = {b"int"}, set[bytes](), False
    if DECLARED.sub(b"", text).strip():
        return False
    for declared, use, kind, variable in DECLARED.findall(text):
        if declared:
            types.add(declared)
        elif use:
            if use not in variables:
                return False
            used = True
        elif kind not in types or variable in (b"int", b"type", b"use"):
            return False
        else:
            variables.add(variable)
    return used


PROGRAM = b"""type account;
int first;
int second;
int third;
account balance;
use first;
use balance;
"""


def test_names_are_shortened_everywhere() -> None:
    content = b"total = sum(total, tax) + t  # 2nd \xc3\xa9tat"
    space = shorter_names(content)
    assert space is not None
    assert space.build(EMPTY) == b"o = s(o, a) + t  # 2nd \xc3\xa9tat", "t is taken"
    assert space.build(space.all) == content
    assert space.build(space.all - IntervalSet.of([0])) == b"o = sum(o, tax) + t  # 2nd \xc3\xa9tat"
    assert list(names_of(content)) == [b"total", b"sum", b"tax", b"t"]
    assert shorter_names(b"a = 12, __") is None


def test_words_become_those_that_lines_begin_with() -> None:
    assert common_words(PROGRAM) == [b"int", b"0"]
    space = reworded(b"account balance; int third;", b"int")
    assert space is not None
    assert space.build(EMPTY) == b"int int; int int;"
    first = space.all - IntervalSet.of([0])
    assert (space.build(first), space.kept(first).count) == (b"int balance; int third;", 23)
    assert space.words(0) == "word: 'account'"
    assert reworded(b"int a", b"int") is None


def test_a_type_that_is_declared_is_replaced_and_its_declaration_goes() -> None:
    left, _ = reduced(PROGRAM.replace(b"use first;\n", b""), uses_a_variable)
    assert left == b"int b;use b;"


def test_with_units_nothing_but_these_is_left_out() -> None:
    searches = course(b"alpha(alpha)\nb", None, [LINES, CHARACTERS])
    space = next(searches)
    second = searches.send((b"", space.build(space.all)))
    assert (space.unit, second.unit) == ("line", "character")
    with pytest.raises(StopIteration):
        searches.send((b"", second.build(second.all)))


def test_rows_of_words_and_pairs_of_brackets_go_together() -> None:
    space = neighbours(b"f(a, b)")
    assert space is not None
    without = {space.build(space.all - IntervalSet.of([number])) for number in space.all}
    assert {b"f(a)", b"fa, b", b"f(b)", b"a, b)"} <= without
    # Fails if brackets, if there are any, have a partner, and there is a letter for each comma.
    left, _ = reduced(b"x, (y)", lambda text: text.count(b"(") == text.count(b")") and b"y" in text)
    assert left == b"y"


def test_of_a_long_answer_few_rows_are_tried() -> None:
    space = neighbours(b" ".join(b"w%d" % number for number in range(40)))
    assert space is not None
    assert space.all.count == 39
    assert neighbours(b" ".join(b"w%d" % number for number in range(60))) is None


def test_tags_close_themselves_and_have_attributes() -> None:
    content = b"<a x='1'><b y=\"2\" z/><br/>text</a>"
    found = [(node.kind, content[node.start : node.stop]) for node in everything(bracket_tree(content))]
    assert ("tags", b'<b y="2" z/>') in found
    assert ("tags", b"<br/>") in found
    attributes = [text for kind, text in found if kind == "attribute"]
    assert attributes == [b"x='1'", b'y="2"', b"z"]


# -- failures that an empty input shows, too -------------------------------------------------------------------------

MEMBERS = """
import sys
lines = open(sys.argv[1]).read().split()
def member(name):
    if name not in lines:
        raise KeyError(f"There is no item named '{name}' here")
def needs():
    for line in lines:
        if line.startswith("needs:"):
            member(line[6:])
member("main")
needs()
"""
SAME_WORDS = """
import sys
text = open(sys.argv[1]).read()
def fail():
    raise ValueError("broken")
def header():
    fail()
def body():
    fail()
if "head" not in text:
    header()
if "bug" in text:
    body()
"""


def left_by(program: str, content: bytes) -> InputIsolation:
    return reduce_input(content, Target((sys.executable, "-c", program, "{}"), "file"))


def test_quoted_text_tells_a_failure_from_that_of_an_empty_input() -> None:
    found = left_by(MEMBERS, b"main\nneeds:one\none two three\nneeds:lost\nneeds:two\nmain2\n" * 3)
    assert sorted(found.failing.split()) == [b"main", b"needs:lost"]
    assert any("with quoted text" in note for note in found.notes)


def test_calls_tell_a_failure_from_that_of_an_empty_input() -> None:
    found = left_by(SAME_WORDS, b"head\nall of this\na bug here\nand that\n" * 3)
    assert sorted(re.findall(rb"head|bug", found.failing)) == [b"bug", b"head"]
    assert len(found.failing) <= len(b"head bug")
    assert any("calls" in note for note in found.notes)


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.exit('error: cannot read ' + repr(open(sys.argv[1]).read()))",
        "import json, sys; json.load(open(sys.argv[1]))",
    ],
)
def test_what_repeats_the_input_or_its_lines_tells_nothing(program: str) -> None:
    with pytest.raises(DoesNotPassError):
        left_by(program, b"\n\n \n \n,\n" * 3)


def test_a_rejected_input_is_no_failure() -> None:
    oracle = Oracle(rejects=re.compile(rb"ParseError"))

    def verdict(output: bytes, *, timed_out: bool = False) -> Outcome:
        return oracle.ending(Finished(1, None, timed_out, 0.1, output)).verdict

    assert verdict(b"ParseError: no") is Outcome.UNRESOLVED
    assert verdict(b"IndexError: no") is Outcome.FAIL
    assert verdict(b"ParseError: no", timed_out=True) is Outcome.FAIL
