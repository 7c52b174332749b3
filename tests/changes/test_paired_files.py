"""Which files of two versions belong together: also where another file has taken the place of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.dependences import Dependences
from replay_dd.changes.difference import Clash
from replay_dd.changes.file_change import Kind
from replay_dd.changes.names import Names
from replay_dd.dd import IntervalSet
from tests.changes.test_difference import applied
from tests.changes.versions import difference


def test_files_that_change_places_are_renamed(tmp_path: Path) -> None:
    code = "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(5))
    for name, shim in (("large", "".join(f"from {{}} import f{number}\n" for number in range(5))), ("small", "")):
        old = {"a.py": code, "b.py": shim.format(*"aaaaa"), "c.py": "# c\n"}
        new = {"a.py": shim.format(*"bbbbb"), "b.py": code.replace("return 3", "return 4"), "c.py": "# c\n"}
        if not shim:
            old["b.py"], new["a.py"] = "# nothing in common\n", "x = 1\n"
        found = difference(tmp_path / name, old, new)
        places = {(file.old_path, file.new_path) for file in found.files}
        assert places == {("a.py", "b.py"), ("b.py", None), (None, "a.py")}
        assert applied(found, found.all) == {path: text.encode() for path, text in new.items()}
        moving = [delta for delta in found.all if found.kind(delta) is not Kind.LINE]
        for delta in moving:
            if found.kind(delta) is not Kind.REMOVE:
                with pytest.raises(Clash):
                    found.mixture(IntervalSet.of([delta]))
            assert Dependences(found, Names(found)).closed(IntervalSet.of([delta]), found.all) >= IntervalSet.of(moving)
        swapped = applied(found, IntervalSet.of(moving))
        assert (swapped["a.py"], swapped["b.py"]) == (new["a.py"].encode(), code.encode())


def test_files_that_share_lines_or_have_gone_nowhere_stay_where_they_are(tmp_path: Path) -> None:
    code, other = ("".join(f"{name} = {number}\n" for number in range(9)) for name in "xy")
    for number, (old, new) in enumerate(
        (
            ({"a": code + other}, {"a": other[:12], "b": code + other[12:]}),  # what is left was there
            ({"a": code, "b": "1\n"}, {"a": other, "b": "2\n"}),  # the old text is nowhere
            ({"a": code, "b": ""}, {"a": "", "b": code}),  # of an empty file, nothing can be told
        )
    ):
        files = difference(tmp_path / str(number), old, new).files
        assert all(file.old_path in (None, file.new_path) for file in files)
