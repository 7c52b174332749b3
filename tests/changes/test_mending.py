"""The nearest mixture that parses, found without a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.difference import Difference
from replay_dd.changes.mending import Break, Mending
from replay_dd.changes.workshop import Target, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from tests.changes.versions import difference

pytestmark = pytest.mark.once

OLD = "x = call(\n    1,\n)\n\n\ndef f():\n    a = 1\n    b = 1\n    return a + b\n"
NEW = "x = call(2)\n\n\ndef f():\n    c = [\n        1,\n        2,\n    ]\n    b = 1\n    return sum(c)\n"


@pytest.fixture(name="found")
def versions(tmp_path: Path) -> Difference:
    return difference(tmp_path, {"m.py": OLD, "n.py": "a = 1\n"}, {"m.py": NEW, "n.py": "a = 2\n"})


def _breaks(found: Difference) -> Workshop:
    return Workshop(found, Target(("true",)), Oracle())


def _adding(found: Difference, text: str) -> IntervalSet:
    """The changes that add a line with this text."""
    told = []
    for delta in found.all:
        change = found.line_change(delta)
        if change is not None and change.new < change.new_stop:
            (line,) = found.files[found.file_of(delta)].after[change.new : change.new_stop]
            told += [delta] if text in line.decode() else []
    return IntervalSet.of(told)


def test_a_hunk_is_applied_or_left_out_whole_where_a_mixture_breaks(found: Difference) -> None:
    breaks = _breaks(found).breaks
    mending = Mending(found, breaks)
    opened, other = _adding(found, "c = ["), _adding(found, "a = 2")
    asked = opened | other
    assert [broken.path for broken in breaks(asked)] == ["m.py"]
    made = mending.nearest(asked, EMPTY, found.all)
    assert breaks(made) == ()
    assert other <= made
    assert made != found.all
    without = mending.nearest(found.all - opened, EMPTY, found.all)
    assert breaks(without) == ()
    assert without not in (EMPTY, found.all)


def test_what_stays_is_kept_and_nothing_else_comes(found: Difference) -> None:
    mending = Mending(found, _breaks(found).breaks)
    opened, other = _adding(found, "c = ["), _adding(found, "a = 2")
    assert mending.nearest(opened | other, EMPTY, opened | other) == other
    assert mending.nearest(opened | other, opened, opened | other) == opened | other
    assert mending.nearest(opened, EMPTY, opened | other) == opened  # nothing would be asked about


def test_where_it_is_not_known_where_a_file_breaks_the_file_comes_whole(found: Difference) -> None:
    opened = _adding(found, "c = [")
    file = found.deltas_at(["m.py"])

    def breaks(deltas: IntervalSet) -> tuple[Break, ...]:
        return () if (deltas & file) in (EMPTY, file) else (Break("m.py", None, "it is broken"),)

    assert Mending(found, breaks).nearest(opened, EMPTY, found.all) == file
    assert Mending(found, breaks).near_breaks(opened, found.all) == file
    assert Mending(found, breaks).near_breaks(file, found.all) == EMPTY


def test_the_change_before_a_line_of_a_mixture_is_found(found: Difference) -> None:
    opened = _adding(found, "c = [")
    # It is the seventh line of the old version, and the fifth of the new one; what is added behind it comes later.
    assert found.line_change_before(found.all, "m.py", 4) == opened.first
    assert found.line_change_before(found.all, "m.py", 3) < opened.first
    assert found.line_change_before(EMPTY, "m.py", 5) < opened.first <= found.line_change_before(EMPTY, "m.py", 6)
    assert found.line_change_before(EMPTY, "other.py", 3) == -1
