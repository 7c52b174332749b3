"""Which files of two versions belong together: also where another file has taken the place of one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from replay_dd.changes import alike
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


def test_hundreds_of_renamed_files_that_changed_are_found(tmp_path: Path) -> None:
    texts = {n: "".join(f"{n} {line}\n" for line in range(9)) + "the same in all\n" for n in range(320)}
    found = difference(
        tmp_path,
        {f"a/{n}.txt": text for n, text in texts.items()},
        {f"b/{319 - n}.txt": text.replace(" 4\n", " four\n") for n, text in texts.items()},
    )
    places = {(file.old_path, file.new_path) for file in found.files}
    assert places == {(f"a/{n}.txt", f"b/{319 - n}.txt") for n in texts}


def test_files_of_one_size_are_read_once_to_find_the_same_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [chr(ord("a") + n) for n in range(20)]
    old = {f"old_{name}": name * 10 for name in names}
    new = {f"new_{name}": name.swapcase() * 10 for name in names[1:]} | {"new_a": "a" * 10, "new_b": "a" * 10}
    opened: Counter[str] = Counter()
    real = Path.open

    def counting(path: Path, *arguments: Any, **named: Any) -> Any:
        opened[path.name] += 1
        return real(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", counting)
    files = difference(tmp_path, old, new).files
    assert max(opened.values()) < 10
    moved = {(file.old_path, file.new_path) for file in files if file.old_path and file.new_path}
    assert moved == {("old_a", "new_a")}


class _NotCompared(Counter[bytes]):
    def __and__(self, other: Any) -> Any:
        raise AssertionError("compared")


def test_only_files_that_share_lines_are_compared() -> None:
    old, new = ({f"{n}": _NotCompared([b"%c%d" % (side, n)]) for n in range(9)} for side in b"ab")
    assert not alike.alike(old, new)


def test_lines_that_too_many_files_share_lead_to_no_pairs_but_count(monkeypatch: pytest.MonkeyPatch) -> None:
    common = [b"common %d" % line for line in range(6)]
    old = {f"old {n}": Counter([*common, b"only %d" % n, b"was %d" % n]) for n in range(9)}
    new = {f"new {n}": Counter([*common[1:], b"only %d" % n, *[b"more %d" % n] * 5]) for n in range(9)}
    paired = {f"old {n}": f"new {n}" for n in range(9)}
    assert alike.alike(old, new) == paired
    monkeypatch.setattr(alike, "_MOST_LINES", 60)
    assert alike.alike(old, new) == paired
    monkeypatch.setattr(alike, "_MOST_LINES", 20)  # four pairs have that many
    assert len(alike.alike(old, new)) == 4
