"""Names that only come or only go are tried before a search between versions that share little."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.difference import Difference
from replay_dd.changes.expansion import additions, removals
from replay_dd.changes.mending import Break
from replay_dd.dd import IntervalSet
from tests.changes.versions import difference

pytestmark = pytest.mark.once

OLD = """\
import os
from shapes import (
    area,
    size,
)

LIMIT = 3


def first():
    return os.getcwd()


class Box:
    def open(self):
        return LIMIT
"""
NEW = """\
import os
import sys
from shapes import (
    area,
    size,
    width,
)

LIMIT = 4
MOST = 5


def first():
    found = os.getcwd()
    return found


class Box:
    def open(self):
        return LIMIT

    def close(self):
        return MOST


class Lid(Box):
    def open(self):
        return LIMIT
"""


def _lines(found: Difference, deltas: IntervalSet) -> list[str]:
    lines = []
    for delta in deltas:
        file, change = found.files[found.file_of(delta)], found.line_change(delta)
        if change is None:
            lines.append(f"{file.path} as a whole")
        else:
            lines += [line.decode().strip() for line in file.after[change.new : change.new_stop]]
            lines += [line.decode().strip() for line in file.before[change.old : change.old_stop]]
    return [line for line in lines if line]


ONLY_NEW = [
    *("import sys", "MOST = 5"),
    *("def close(self):", "return MOST", "class Lid(Box):", "def open(self):", "return LIMIT"),
]


def test_what_only_adds_names(tmp_path: Path) -> None:
    found = difference(tmp_path, {"p.py": OLD}, {"p.py": NEW, "lid.py": "x = 1\n"})
    told = _lines(found, additions(found, found.all, lambda deltas: ()))
    assert sorted(told) == sorted([*ONLY_NEW, "lid.py as a whole"])
    assert not _lines(found, removals(found, found.all, lambda deltas: ()))


def test_what_only_takes_names_away(tmp_path: Path) -> None:
    found = difference(tmp_path, {"p.py": NEW, "lid.py": "x = 1\n"}, {"p.py": OLD})
    told = _lines(found, removals(found, found.all, lambda deltas: ()))
    assert sorted(told) == sorted([*ONLY_NEW, "lid.py as a whole"])
    assert not _lines(found, additions(found, found.all, lambda deltas: ()))


def test_files_that_would_not_parse_and_what_is_not_searched_are_left_out(tmp_path: Path) -> None:
    found = difference(tmp_path, {"p.py": OLD}, {"p.py": NEW, "lid.py": "x = 1\n"})
    assert _lines(found, additions(found, found.all, lambda deltas: (Break("p.py", None, ""),))) == [
        "lid.py as a whole"
    ]
    assert not additions(found, IntervalSet.of([]), lambda deltas: ())


def test_an_import_of_several_lines_only_adds_names(tmp_path: Path) -> None:
    old, new = "x = 1\n", "from shapes import (\n    area,\n    size,\n)\nx = 2\n"
    found = difference(tmp_path, {"p.py": old}, {"p.py": new})
    told = _lines(found, additions(found, found.all, lambda deltas: ()))
    assert told == ["from shapes import (", "area,", "size,", ")"]


def test_functions_that_come_and_go_have_no_lines_in_common(tmp_path: Path) -> None:
    """Otherwise neither could come, nor go, without the other one: half of each does not parse."""
    body = "    '''Do it.\n\n    Slowly.\n    '''\n    x = 1\n\n    return x\n"
    old = f"def stays():\n{body}"
    new = f"def new():\n{body}\n\ndef stays():\n    return 2\n"
    found = difference(tmp_path, {"p.py": old}, {"p.py": new})
    coming = additions(found, found.all, lambda deltas: ())
    assert _lines(found, coming) == ["def new():", *[line.strip() for line in body.splitlines() if line.strip()]]
    version = found.mixture(coming)["p.py"]
    assert version is not None
    assert version.content is not None
    compile(version.content, "p.py", "exec")
