"""Functions that moved into a new file: what changed in them on the way is found as anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.file_change import Kind
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.moved import Lost, as_they_were
from replay_dd.changes.moves import moves_in
from replay_dd.dd import IntervalSet
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
    files = [Lost(f"{number}.py", before, after) for number, (before, after) in enumerate(others)]
    return list(as_they_were("money.py", [*HEAD, *LATER], files))


def test_functions_come_from_where_they_are_gone() -> None:
    assert lost((GONE, [])) == lost(([*HEAD, *GONE], HEAD)) == [*HEAD, *GONE]
    for others in (
        (),
        ((GONE, GONE),),  # still there
        ((GONE, []), (GONE, [])),  # of two
        ((GONE + GONE, []),),
        (([b"def rounded(x, y):\n", b"    return x + y\n"], []),),  # another one
        (([b"class Sum:\n", *(b"    " + line for line in GONE)], []),),
    ):
        assert lost(*others) == [*HEAD, *LATER]


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
