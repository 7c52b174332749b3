"""Which line changes come only together: those of a statement, and a head with the lines that it indents."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.coverage import Executed, never_executed
from replay_dd.changes.dependences import Dependences
from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import groups
from replay_dd.changes.names import Names
from tests.changes.test_isolate import isolate
from tests.changes.versions import difference, python

pytestmark = pytest.mark.once

TRIED = """\
def check(items):
    push(items)
    try:
        for item in items:
            check(item)
    finally:
        pop(items)
"""
UNTRIED = """\
def check(items):
    for item in items:
        check(item)
"""


def texts(found: Difference, level: str = "statement") -> list[str]:
    """What each group of a level makes of the old version of the only file, applied alone."""
    (file,) = found.files
    made = [file.version([found.local(delta) for delta in group])[1] for group in groups(found, found.all, level)]
    return [version.content.decode() for version in made if version is not None and version.content is not None]


def lines_of_groups(found: Difference, level: str = "statement") -> list[list[str]]:
    """The lines that each group of a level removes and adds."""
    (file,) = found.files
    told: list[list[str]] = []
    for group in groups(found, found.all, level):
        lines: list[str] = []
        for delta in group:
            change = found.line_change(delta)
            assert change is not None
            lines += [f"-{line.decode().strip()}" for line in file.before[change.old : change.old_stop]]
            lines += [f"+{line.decode().strip()}" for line in file.after[change.new : change.new_stop]]
        told.append(lines)
    return told


def closed(found: Difference, *lines: str) -> set[str]:
    """The lines of the groups that come with the group of this line."""
    needs = Dependences(found, Names(found))
    told = dict(zip(groups(found, found.all, "statement"), lines_of_groups(found), strict=True))
    group = next(group for group, own in told.items() if set(lines) & set(own))
    return {line for other, own in told.items() if other & needs.closed(group, found.all) for line in own}


def test_a_statement_that_is_wrapped_in_another_way_changes_whole(tmp_path: Path) -> None:
    old = "x = call(\n    one,\n    two,\n)\ny = 1\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": "x = call(one, 2)\ny = 2\n"})
    assert texts(found) == ["x = call(one, 2)\ny = 1\n", old.replace("y = 1", "y = 2")]


def test_lines_of_a_table_in_other_hunks_change_one_by_one(tmp_path: Path) -> None:
    old, new = "x = [\n    1,\n    2,\n    3,\n]\n", "x = [\n    5,\n    2,\n    6,\n]\n"
    assert len(texts(difference(tmp_path / "same", {"a.py": old}, {"a.py": new}))) == 2
    opened = new.replace("5,", "call(").replace("6,", ")")
    found = difference(tmp_path / "opened", {"a.py": old}, {"a.py": opened})
    assert texts(found) == texts(found, "hunk") == [opened]
    quoted = new.replace("5,", "'(',  # (").replace("6,", "')',")
    assert len(texts(difference(tmp_path / "quoted", {"a.py": old}, {"a.py": quoted}))) == 2


def test_a_head_that_goes_takes_along_what_it_indents(tmp_path: Path) -> None:
    found = difference(tmp_path, {"a.py": TRIED}, {"a.py": UNTRIED})
    moved = ["-try:", "-for item in items:", "+for item in items:", "-check(item)", "+check(item)", "-finally:"]
    # Without what it indents, `finally` would not parse.
    assert lines_of_groups(found) == [["-push(items)"], [*moved, "-pop(items)"]]
    assert closed(found, "-try:") == {*moved, "-pop(items)"}
    assert closed(found, "-push(items)") == {"-push(items)"}


def test_a_head_that_comes_takes_along_what_it_indents(tmp_path: Path) -> None:
    old, more = UNTRIED + "    a = 1\n    b = 2\n", "        a = 1\n        b = 2\n"
    new = TRIED.replace("    finally", f"{more}    finally")
    head = {"+try:", "-for item in items:", "-a = 1", "+a = 1", "+b = 2", "+finally:"}
    comes = new.replace("b = 2", "come()\n        b = 2")
    found = difference(tmp_path / "comes", {"a.py": old}, {"a.py": comes})
    assert closed(found, "+come()") >= head
    assert closed(found, "+try:") >= head
    assert not closed(found, "+try:") & {"+come()", "+push(items)"}
    assert "+pop(items)" in closed(found, "+try:")  # without it, `finally` would have no body
    assert closed(found, "+push(items)") == {"+push(items)"}
    found = difference(tmp_path / "goes", {"a.py": old.replace("b = 2", "gone()\n    b = 2")}, {"a.py": new})
    assert closed(found, "+try:") >= {*head, "-gone()"}
    assert closed(found, "-gone()") == {"-gone()"}


def test_what_two_heads_indented_is_apart(tmp_path: Path) -> None:
    old = "def f():\n    if a:\n        one()\n    two()\n    if b:\n        three()\n"
    new = "def f():\n    one()\n    two()\n    three()\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    assert lines_of_groups(found) == [["-if a:", "-one()", "+one()"], ["-if b:", "-three()", "+three()"]]


def test_a_head_that_only_changes_indents_nothing(tmp_path: Path) -> None:
    old = "def f():\n    if a:\n        one()\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": old.replace("if a", "if c").replace("one()", "  one()")})
    assert lines_of_groups(found) == [["-if a:", "+if c:"], ["-one()", "+one()"]]


def test_where_a_statement_goes_on_its_depth_says_nothing(tmp_path: Path) -> None:
    old = "@wrapped\nclass A(object):\n    x = 1\n    a = (\n        b\n    ) = (\n        c\n    ) = f\n"
    new = "class A:\n    x = 1\n    a = b = f\n    c = f\n    d = f\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    heads, *others = lines_of_groups(found)
    assert heads == ["-@wrapped", "-class A(object):", "+class A:"]
    assert "-) = f" in {line for lines in others for line in lines}


def test_what_comes_under_a_head_that_comes_needs_it(tmp_path: Path) -> None:
    old = "class A:\n    def f(self):\n        pass\n\n\ndef g():\n    pass\n"
    new = old.replace("def g", "class B:\n    x = 1\n\n    def h(self):\n        return 1\n\n\ndef g")
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    assert closed(found, "+return 1") >= {"+class B:", "+def h(self):", "+return 1"}
    assert "+class B:" in closed(found, "+x = 1")
    assert "+x = 1" not in closed(found, "+def h(self):")


def test_lines_that_move_are_never_left_out(tmp_path: Path) -> None:
    old = "def f(x):\n    if x:\n        if x > 1:\n            return 1\n    return 2\n"
    new = "def f(x):\n    if x > 1:\n        return 1\n    return 2\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    run = Executed({"a.py": frozenset({0, 1, 4})})
    assert not never_executed(found, run, run, built=False)


def test_the_call_that_went_with_its_block_is_found(tmp_path: Path) -> None:
    """Each line of the block moved, but only one call is missed."""
    support = "stack = []\n\n\ndef push(x):\n    stack.append(x)\n\n\ndef pop(x):\n    assert stack.pop() == x\n\n\n"
    checked = "            assert stack[-1] is items\n            check(item)\n"
    old = support + TRIED.replace("            check(item)\n", checked)
    new = support + UNTRIED.replace("        check(item)\n", checked.replace("            ", "        "))
    found = isolate(tmp_path, {"a.py": old}, {"a.py": new}, python("-c", "import a; a.check([[]])"))
    guilty = [found.difference.line_change(delta) for delta in found.guilty]
    before = found.difference.files[0].before
    assert [before[change.old].strip() for change in guilty if change is not None] == [b"push(items)"]
    assert found.isolation.tests < 8
