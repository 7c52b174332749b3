"""Functions that moved into another file: what changed in them on the way is found as anywhere else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.changes import origins
from replay_dd.changes.coverage import Executed, never_executed
from replay_dd.changes.file_change import Kind
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.moved import arrivals, as_they_were
from replay_dd.changes.moves import moves_in
from replay_dd.changes.origins import Source
from replay_dd.changes.shown import passages
from replay_dd.dd import EMPTY, IntervalSet
from tests.changes.test_difference import applied
from tests.changes.versions import Files, difference, patch, python, tree

pytestmark = pytest.mark.once

ROUNDED = 'def rounded(amount):\n    """Two digits."""\n    return round(amount, 2)\n'
CHANGED = ROUNDED.replace("round(amount, 2)", "int(amount)")
SHOUT = "\n\ndef shout(text):\n    return text.upper()\n"
OLD: Files = {"util.py": ROUNDED + SHOUT}
NEW: Files = {"util.py": SHOUT, "money.py": f'"""Money."""\n\n\n{CHANGED}'}


def test_a_file_is_added_with_its_functions_as_they_were(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD, NEW)
    (number,) = (number for number, file in enumerate(found.files) if file.path == "money.py")
    added, changed = found.deltas_of(number)
    assert (found.kind(added), found.kind(changed)) == (Kind.ADD, Kind.LINE)
    assert applied(found, IntervalSet.of([added]))["money.py"].decode() == f'"""Money."""\n\n\n{ROUNDED}'
    assert applied(found, found.all) == {name: str(text).encode() for name, text in NEW.items()}
    assert "money.py" not in applied(found, IntervalSet.of([changed]))


def test_the_line_that_changed_on_the_way_is_found(tmp_path: Path) -> None:
    old = {**OLD, "app.py": "import util\n\n\ndef price():\n    return util.rounded(0.29)\n"}
    new = {**NEW, "app.py": "import money\n\n\ndef price():\n    return money.rounded(0.29)\n"}
    target = python("-c", "import app; assert app.price() == 0.29")
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), target)
    (guilty,) = found.guilty
    file = found.difference.files[found.difference.file_of(guilty)]
    assert (file.path, found.difference.kind(guilty)) == ("money.py", Kind.LINE)
    assert "+    return int(amount)" in patch(found)


GONE = ROUNDED.encode().splitlines(keepends=True)
LATER = CHANGED.encode().splitlines(keepends=True)
HEAD = [b"import math\n", b"\n", b"\n"]


def lost(*others: tuple[list[bytes], list[bytes]]) -> list[bytes]:
    """What a new file with the changed function was, with these files before and after."""
    files = [Source(f"{number}.py", before, after) for number, (before, after) in enumerate(others)]
    return list(as_they_were("money.py", [*HEAD, *LATER], files))


def test_functions_come_from_where_they_are_gone() -> None:
    assert lost((GONE, [])) == lost(([*HEAD, *GONE], HEAD)) == [*HEAD, *GONE]
    for others in (
        (),
        ((GONE, GONE),),  # still there
        ((GONE, []), ([*GONE[:2], b"    return 2\n"], [])),  # of two that are not the same
        ((GONE + GONE, []),),
        (([b"def rounded(x, y):\n", b"    return x + y\n"], []),),  # another one
        (([b"class Sum:\n", *(b"    " + line for line in GONE)], []),),
    ):
        assert lost(*others) == [*HEAD, *LATER]


PRICE = '''\
def price(count):
    """The price."""
    found = count * 2
    for number in range(3):
        found += number
    return found
'''
MAIN = "\n\ndef main():\n    return price(3)\n"
BEFORE, AFTER = "TABLE = {\n    1: 2,\n}\n\n\n", "\n\ndef last():\n    return TABLE[1]\n"
OTHER_PRICE = (
    PRICE.replace("The price", "A price").replace("range(3)", "range(4)").replace("+= number", "+= 1 * number")
)
OLD_PLACE: Files = {"a.py": PRICE + MAIN, "b.py": BEFORE + AFTER.lstrip()}
NEW_PLACE: Files = {"a.py": "from b import price\n" + MAIN, "b.py": BEFORE + OTHER_PRICE + AFTER}


def test_a_function_arrives_in_an_old_file_as_it_was(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD_PLACE, NEW_PLACE)
    (number,) = (number for number, file in enumerate(found.files) if file.path == "b.py")
    arrival, *lines = found.deltas_of(number)
    assert found.kind(arrival) is Kind.ARRIVE
    assert found.words(arrival) == "price comes to b.py from a.py"
    as_it_was = applied(found, IntervalSet.of([arrival]))["b.py"].decode()
    assert as_it_was.replace("\n\n", "") == (BEFORE + PRICE + AFTER).replace("\n\n", "")
    compile(as_it_was, "b.py", "exec")
    assert applied(found, found.all) == {name: str(text).encode() for name, text in NEW_PLACE.items()}
    in_function = [line for line in lines if symbol_of(found, line) == "price"]
    assert len(in_function) == 3
    assert applied(found, IntervalSet.of(in_function))["b.py"] == OLD_PLACE["b.py"].encode()  # type: ignore[union-attr]
    shown = {row.number for part in passages(found, IntervalSet.of(in_function), EMPTY) for row in part.rows}
    assert shown == {5, 6}  # of lines in the old file, between which it comes


def test_the_line_that_changed_on_the_way_to_an_old_file_is_found(tmp_path: Path) -> None:
    target = python("-c", "import a; assert a.main() == 9, a.main()")
    found = isolate_changes(tree(tmp_path / "old", OLD_PLACE), tree(tmp_path / "new", NEW_PLACE), target)
    (guilty,) = found.guilty
    change = found.difference.line_change(guilty)
    assert change is not None
    assert (
        found.difference.files[found.difference.file_of(guilty)].after[change.new] == b"    for number in range(4):\n"
    )
    assert "+from b import price" in patch(found)


def test_lines_of_a_function_that_arrives_are_taken_for_executed(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD_PLACE, NEW_PLACE)
    old = Executed({"a.py": frozenset(range(10)), "b.py": frozenset({0, 4, 5})})
    new = Executed({"a.py": frozenset({0, 3, 4}), "b.py": frozenset({0, 5})})  # the function itself is not called
    left_out = never_executed(found, old, new, built=False)
    assert not [delta for delta in left_out if symbol_of(found, delta) == "price"]


def test_only_what_goes_elsewhere_and_changes_arrives(tmp_path: Path) -> None:
    def arrived(old: Files, new: Files, name: str) -> list[str]:
        files = difference(tmp_path / name, old, new).files
        return [arrival.name for file in files for arrival in file.arrivals]

    assert arrived(OLD_PLACE, NEW_PLACE, "changed") == ["price"]
    assert not arrived(OLD_PLACE, {**NEW_PLACE, "b.py": BEFORE + PRICE + AFTER}, "the same")
    assert not arrived(OLD_PLACE, {**NEW_PLACE, "a.py": PRICE}, "still there")
    twice = {**OLD_PLACE, "c.py": PRICE.replace("The", "This")}
    assert not arrived(twice, {**NEW_PLACE, "c.py": ""}, "of two that are not the same")
    assert not arrived({**OLD_PLACE, "b.py": "x = 1"}, NEW_PLACE, "no end of the last line")
    assert arrived({"c.py": PRICE, "b.py": AFTER}, {"b.py": AFTER + OTHER_PRICE}, "from a file that goes") == ["price"]


def test_what_changed_in_a_function_that_moved_into_an_old_file(tmp_path: Path) -> None:
    function = "def area(side):\n    found = side * side\n    return found\n"
    other, third = "def other():\n    return 1\n", "def third():\n    return 3\n"
    old = {"a.py": other + function, "b.py": third, "c.py": other}
    new = {"a.py": other, "b.py": third + function.replace("side *", "2 *"), "c.py": third}
    found = difference(tmp_path, old, new)
    (move,) = moves_in(found, found.deltas_of(0))
    assert (move.name, move.source, move.target) == ("area", "a.py", "b.py")
    assert (move.removed, move.added) == ((b"    found = side * side\n",), (b"    found = 2 * side\n",))
    assert not list(moves_in(found, found.deltas_of(2)))


def test_a_class_that_moves_brings_the_imports_that_it_needs(tmp_path: Path) -> None:
    head = "import os\nimport typing as t\nfrom . import deep\nfrom math import floor, pi\n"
    body = "def price(a: t.Any):\n    b = floor(a)\n    c = pi\n    d = deep\n    return b\n"
    old: Files = {"a.py": head + body, "b.py": "import pi\nx = 1\n", "c/d.py": "x = 1\n"}
    arrived = body.replace("t.Any", "int")
    (place,) = (number for number, name in enumerate(sorted(old)) if name == "b.py")
    found = difference(tmp_path / "beside", old, {**old, "a.py": "", "b.py": f"import pi\nx = 1\n{arrived}"})
    came = applied(found, IntervalSet.of([found.deltas_of(place).first]))["b.py"].decode()
    # The other name is there, though it means something else.
    brought = "import typing as t\nfrom . import deep\nfrom math import floor\n"
    assert came == f"import pi\nx = 1\n{brought}{body}"
    (move,) = moves_in(found, found.deltas_of(place))
    assert (move.removed, move.added) == ((b"def price(a: t.Any):\n",), (b"def price(a: int):\n",))
    found = difference(tmp_path / "below", old, {**old, "a.py": "", "c/d.py": f"x = 1\n{arrived}"})
    came = applied(found, IntervalSet.of([found.deltas_of(1).first]))["c/d.py"].decode()
    assert came == f"x = 1\nimport typing as t\nfrom math import floor, pi\n{body}".replace(
        "floor, pi", "floor\nfrom math import pi"
    )
    new = "import os\n\n\n" + arrived
    found = difference(tmp_path / "new", {"a.py": head + body, "b.py": "x = 1\n"}, {"new.py": new, "b.py": "x = 1\n"})
    (number,) = (number for number, file in enumerate(found.files) if file.path == "new.py")
    if found.kind(found.deltas_of(number).first) is Kind.ADD:
        came = applied(found, IntervalSet.of([found.deltas_of(number).first]))["new.py"].decode()
        assert "import typing as t\nfrom . import deep\nfrom math import floor\nfrom math import pi\ndef price" in came


def brought(folder: Path, old: Files, new: Files, name: str) -> str:
    """What stands in a file when functions have come there as they were."""
    found = difference(folder, old, new)
    (number,) = (number for number, file in enumerate(found.files) if file.path == name)
    (arrival,) = (delta for delta in found.deltas_of(number) if found.kind(delta) is Kind.ARRIVE)
    return applied(found, IntervalSet.of([arrival]))[name].decode()


def test_an_import_that_comes_along_hides_nothing(tmp_path: Path) -> None:
    body = "def price(floor):\n    x = helper(floor)\n    ceil = clean(x)\n    pi = 3\n    return ceil * pi * deep(x)\n"
    head = "from b import helper\nfrom tools import clean\nfrom .b import deep\nfrom math import *\n"
    old: Files = {"a.py": f"{head}from math import floor, ceil, pi\n{body}", "b.py": "def clean(x):\n    return x\n"}
    new: Files = {"a.py": head, "b.py": f"{old['b.py']!s}{body.replace('3', '4')}"}
    assert brought(tmp_path, old, new, "b.py") == f"{old['b.py']!s}{body}"


def test_a_name_that_one_method_binds_is_brought_for_another(tmp_path: Path) -> None:
    body = "class Price:\n    def one(self, t):\n        return t\n\n    def two(self):\n        return t(1)\n"
    old: Files = {"a.py": f"from math import floor as t\n{body}", "b.py": "z = 1\n"}
    new: Files = {"a.py": "", "b.py": f"z = 1\n{body.replace('t(1)', 't(2)')}"}
    assert brought(tmp_path, old, new, "b.py") == f"z = 1\nfrom math import floor as t\n{body}"


OLD_MODULE = '''\
import re

PREFIX = "v"


def cleaned(text):
    return text.removeprefix(PREFIX)


class VersionInfo:
    """A version."""

    def __init__(self, text):
        self.parts = re.split(r"\\.", cleaned(text))

    def count(self):
        return len(self.parts)

    def isvalid(self):
        return self.count() == 3
'''
NEW_CLASS = (
    OLD_MODULE[OLD_MODULE.index("class") :]
    .replace("VersionInfo", "Version")
    .replace("cleaned(text)", 'text.removeprefix("v")')
)
OTHERS = "".join(f"\n\ndef other{number}():\n    return {number}\n" for number in range(20))  # no file is like this one
PACKAGE: Files = {
    "version/__init__.py": "from .parts import Version, VersionInfo\n",
    "version/parts.py": f"import re\n\n\n{NEW_CLASS.replace('isvalid', 'is_valid')}\n\nVersionInfo = Version\n",
    "version/check.py": "from version import Version\n\n\ndef check(text):\n    return Version(text).is_valid()\n",
}


def test_a_class_comes_under_its_new_name_with_what_it_needs(tmp_path: Path) -> None:
    found = difference(tmp_path, {"version.py": OLD_MODULE + OTHERS}, PACKAGE)
    (added,) = (delta for delta in found.all if found.moves(delta))
    came = applied(found, IntervalSet.of([added]))["version/parts.py"].decode()
    needed = OLD_MODULE[OLD_MODULE.index("PREFIX") : OLD_MODULE.index("class")]
    as_it_was = OLD_MODULE[OLD_MODULE.index("class") :].replace("VersionInfo", "Version")
    wanted = f"import re\n{needed}{as_it_was}VersionInfo = Version\n"
    assert [line for line in came.splitlines() if line] == [line for line in wanted.splitlines() if line]
    assert applied(found, found.all) == {name: str(text).encode() for name, text in PACKAGE.items()}


def test_what_changed_where_a_module_became_a_package_is_found(tmp_path: Path) -> None:
    target = python("-c", "import version; assert version.VersionInfo('v1.2.3').isvalid()")
    found = isolate_changes(
        tree(tmp_path / "old", {"version.py": OLD_MODULE + OTHERS}), tree(tmp_path / "new", PACKAGE), target
    )
    (guilty,) = found.guilty
    change = found.difference.line_change(guilty)
    assert change is not None
    after = found.difference.files[found.difference.file_of(guilty)].after
    assert after[change.new : change.new_stop] == [b"    def is_valid(self):\n"]


def test_a_class_that_is_elsewhere_by_then_is_not_brought_a_second_time() -> None:
    text = "class Error(Exception):\n    pass\n\n\ndef fail(text):\n    found = text * 2\n    raise Error(found)\n"
    source = Source("old.py", text.encode().splitlines(keepends=True), [])
    head, changed = "from errors import *\n", text[text.index("def") :].replace("2", "3")
    for line, names, also in (
        (head, {"Error"}, []),
        ("import errors\n", {"Error"}, []),
        ("\n", set[str](), [b"class Error(Exception):\n", b"    pass\n"]),
    ):
        lines = (line + changed).encode().splitlines(keepends=True)
        function = text[text.index("def") :].encode().splitlines(keepends=True)
        assert as_they_were("new.py", lines, [source], names) == [line.encode(), *also, *function]


def test_what_the_old_file_or_an_import_of_everything_still_gives_is_not_brought() -> None:
    function = b"def fail(text):\n    found = text * TIMES\n    raise made(found)\n"
    rest = b"TIMES = 2\n", b"def made(text):\n", b"    return text\n"
    lines = function.splitlines(keepends=True)
    source = Source("old.py", [*rest, *lines], [rest[0]])
    changed = [b"import os\n", *function.replace(b"* TIMES", b"+ 3").splitlines(keepends=True)]
    assert as_they_were("new.py", changed, [source]) == [b"import os\n", *rest[1:], *lines]
    gone = replace(source, after=[])
    assert as_they_were("new.py", changed, [gone], {"made"}) == [b"import os\n", *rest, *lines]
    changed[0] = b"from made import *\n"
    assert as_they_were("new.py", changed, [gone], {"made"}) == [changed[0], rest[0], *lines]


def test_heads_of_a_file_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[bytes]()
    real = origins.defined_at_top
    monkeypatch.setattr(origins, "defined_at_top", lambda line: (looked.update([line]), real(line))[1])
    source = Source("old.py", [b"def f():\n", b"    return 1\n"], [b"x = 1\n"])
    for number in range(9):
        arrivals(f"{number}.py", [b"y = 2\n"], [b"y = 2\n", b"def g%d():\n" % number], [source])
    assert {looked[line] for line in (*source.before, *source.after)} == {1}
