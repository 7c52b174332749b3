"""Changes in their surroundings: what is no text, and titles."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.file_change import Kind
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.shown import passages
from replay_dd.dd import EMPTY, IntervalSet
from tests.changes.versions import difference

pytestmark = pytest.mark.once


def test_what_looks_alike_is_shown_with_escapes(tmp_path: Path) -> None:
    """Ends of lines and blanks at the end; another indentation can be seen."""
    old, new = "a\nb\n    c\nd\n", "a\nb\r\n        c\nd"
    versions = difference(tmp_path, {"x.txt": old}, {"x.txt": new})
    (passage,) = passages(versions, versions.all, versions.all)
    changed = [(row.sign, row.text) for row in passage.rows if row.sign != " "]
    assert changed == [
        *(("-", "'b\\n'"), ("-", "    c"), ("-", "'d\\n'")),
        *(("+", "'b\\r\\n'"), ("+", "        c"), ("+", "'d'")),
    ]


def test_what_is_no_text_is_shown_with_escapes(tmp_path: Path) -> None:
    old, new = "é\xa0\x1b[1m\n".encode() + b"a\xe4\nb\xe4\n", "é\n".encode() + b"a\xeb\nb\xe4 \n"
    versions = difference(tmp_path, {"x.txt": old}, {"x.txt": new})
    (passage,) = passages(versions, versions.all, EMPTY)
    assert [(row.sign, row.text) for row in passage.rows if row.sign != " "] == [
        *(("-", r"é\xa0\x1b[1m"), ("-", r"a\xe4"), ("-", r"'b\xe4\n'")),
        *(("+", "é"), ("+", r"a\xeb"), ("+", r"'b\xe4 \n'")),
    ]


def test_settings_have_sections_and_tables_of_data_no_headings(tmp_path: Path) -> None:
    settings = "[main]\nname = a\nmode = fast\n\n[log]\n# 1\n# 2\n# 3\nfile = b\n"
    table = "id,name\n1,a\n2,b\n3,c\n4,d\n"
    script = "NR > 1 {\n  a\n  b\n  c\n}\n"
    old = {"a.cfg": settings, "b.csv": table, "c.awk": script, "d.awk": script}
    new = {
        "a.cfg": settings.replace("fast", "slow").replace("= b", "= c"),
        "b.csv": table.replace(",d", ",e"),
        "c.awk": script.replace("1", "2"),
        "d.awk": script.replace("c", "d"),
    }
    versions = difference(tmp_path, old, new)
    titles = [passage.title for passage in passages(versions, versions.all, EMPTY)]
    assert titles == ["a.cfg", "a.cfg, [log]", "b.csv", "c.awk", "d.awk, NR > 1 {"]
    symbols = [symbol_of(versions, delta) for delta in versions.all]
    assert symbols == ["[main]", "[log]", "", "NR > 2 {", "NR > 1 {"]


def test_a_title_has_the_function_even_if_a_line_begins_like_it(tmp_path: Path) -> None:
    versions = difference(
        tmp_path, {"a.py": "def f():\n    for x in y: pass\n"}, {"a.py": "def f():\n    if x: pass\n"}
    )
    (passage,) = passages(versions, versions.all, EMPTY)
    assert passage.title == "a.py, f"


def test_a_file_that_moved_has_its_old_path_in_the_title(tmp_path: Path) -> None:
    a, b = ("".join(f"{name}_{number} = {number}\n" for number in range(12)) for name in "ab")
    versions = difference(tmp_path, {"a.py": a, "b.py": b}, {"a.py": b, "b.py": a.replace("= 7", "= 8")})
    (passage,) = passages(versions, IntervalSet.of([one for one in versions.all if versions.line_change(one)]), EMPTY)
    assert passage.title == "b.py (a.py in the old version)"
    (file,) = (file for file in versions.files if file.lines)
    assert file.words(Kind.MODE).startswith(passage.title)
