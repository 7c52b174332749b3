"""Files that functions come from: other languages, copies, and how they are written."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from replay_dd.changes import origins
from replay_dd.changes.file_change import Kind
from replay_dd.changes.moved import arrivals, as_they_were
from replay_dd.changes.origins import Source, functions_in
from replay_dd.changes.written import Written, written
from replay_dd.dd import IntervalSet
from tests.changes.test_difference import applied
from tests.changes.versions import difference

OLD = """\
from os import path
from text import short
WORD = "Größe"
def label(number):
    # für alle
    found = path.join(WORD, "é", str(number))
    return short(found)
"""
FUNCTION = OLD[OLD.index("def") :]
CHANGED = FUNCTION.replace("return short(found)", "return found")
LATIN, COOKIE = "latin-1", "# coding: latin-1\n"


def moved_to(lines: Sequence[bytes], *others: Source) -> bytes:
    return b"".join(as_they_were("new.py", lines, others))


@pytest.mark.parametrize("target", ["utf-8", LATIN])
@pytest.mark.parametrize("source", ["utf-8", LATIN])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("new_ends", ["\n", "\r\n"])
def test_what_moves_is_written_as_its_new_file(source: str, target: str, ends: str, new_ends: str) -> None:
    old = f"{COOKIE if source == LATIN else ''}{OLD}".replace("\n", ends).encode(source)
    head = COOKIE if target == LATIN else '"""New."""\n'
    new = f"{head}{CHANGED}".replace("\n", new_ends).encode(target)
    origin = Source("old.py", old.splitlines(keepends=True), ())
    expected = f"{head}{OLD}".replace("\n", new_ends).encode(target)
    result = moved_to(new.splitlines(keepends=True), origin)
    assert result == expected
    compile(result, "new.py", "exec")


def test_a_function_that_arrives_is_written_as_the_file_that_was_there(tmp_path: Path) -> None:
    there = f'"""Größen."""\n\nx = 1\n\n\n{"{}"}def last():\n    return 2\n'
    old = {"old.py": f"{COOKIE}{OLD}\n\ny = 1\n".encode(LATIN), "there.py": there.format("").replace("\n", "\r\n")}
    new = {"old.py": f"{COOKIE}y = 1\n", "there.py": there.format(f"{CHANGED}\n\n").replace("\n", "\r\n")}
    found = difference(tmp_path, old, new)
    (arrival,) = (delta for delta in found.all if found.kind(delta) is Kind.ARRIVE)
    there_then = applied(found, IntervalSet.of([arrival]))["there.py"]
    assert there_then.count(b"\n") == there_then.count(b"\r\n")
    compile(there_then, "there.py", "exec")
    for line in (*FUNCTION.splitlines(), 'WORD = "Größe"', "from os import path", "from text import short"):
        assert f"{line}\r\n" in there_then.decode()
    assert applied(found, found.all)["there.py"].decode() == new["there.py"]
    number = found.file_of(arrival)
    changed = [found.line_change(delta) for delta in found.deltas_of(number) if found.kind(delta) is Kind.LINE]
    texts = {found.files[number].before[one.old].decode().strip() for one in changed if one and one.old < one.old_stop}
    assert texts == {'WORD = "Größe"', "from os import path", "from text import short", "return short(found)"}


def test_what_the_other_encoding_lacks_stays_as_it_is() -> None:
    style = written("a.py", [b"# coding: latin-1\n"])
    assert style == Written("iso-8859-1", b"\n")
    text = "'€'\n".encode()
    assert list(Written("utf-8", b"\n").lines([text, b"\xc3\xb6\n"], style)) == [text, b"\xf6\n"]
    assert list(style.lines([b"x\n", b"\xf6"], Written(None, b"\r\n"))) == [b"x\r\n", b"\xf6"]
    for lines in ([], [b"# coding: unknown\n"], [b"\xff\xff\n"]):
        assert written("a.py", lines).encoding in (None, "utf-8")
    assert written("a.py", [b"\xef\xbb\xbfx = 1\r\n"]) == Written("utf-8", b"\r\n")
    assert written("a.c", [b"int x;\n"]) == Written(None, b"\n")
    assert written("a.py", [b"#!/bin/python\n", *[b"x = 1\r\n"] * 2]).end == b"\r\n"


@pytest.mark.parametrize("encoding", ["hex", "rot13", "undefined", "unknown"])
def test_what_cannot_be_read_changes_nothing(encoding: str) -> None:
    head = f"# coding: {encoding}\n"
    old, new = f"{head}{OLD}".encode(), f"{head}{CHANGED}".encode()
    assert moved_to(LATER, Source("old.py", old.splitlines(keepends=True), ())) == CHANGED.encode()
    assert moved_to(new.splitlines(keepends=True), Source("old.py", LINES, ())) == new


def test_a_file_that_cannot_be_parsed_gives_no_function_another_name() -> None:
    broken = [*LATER, b"x = (\n"]
    assert moved_to(broken, Source("old.py", LINES, ())) == b"".join(broken)
    assert moved_to(LATER, Source("old.py", [*LINES, b"x = (\n"], ())) == b"".join(LATER)


def test_the_mark_that_a_file_begins_with_does_not_move() -> None:
    origin = Source("old.py", [codecs.BOM_UTF8 + LINES[0], *LINES[1:]], ())
    assert moved_to([b"x = 1\n", *LATER], origin) == b"x = 1\n" + FUNCTION.encode()


def test_a_last_line_without_an_end_gets_one_where_something_follows() -> None:
    origin = Source("old.py", [*LINES[:-1], LINES[-1].rstrip()], ())
    assert moved_to([*LATER, b"x = 1\n"], origin) == FUNCTION.encode() + b"x = 1\n"
    assert moved_to(LATER, origin) == FUNCTION.encode().rstrip()
    lines = [one.replace(b"\n", b"\r\n") for one in LINES]
    needed = Source("old.py", [*lines, b"WORD = 1"], ())
    later = [one.replace(b"\n", b"\r\n") for one in LATER]
    assert moved_to(later, needed) == b"WORD = 1\r\n" + b"".join(lines)


LINES = FUNCTION.encode().splitlines(keepends=True)
LATER = CHANGED.encode().splitlines(keepends=True)


def test_a_function_that_several_files_lost_alike_is_one() -> None:
    helper = [b"def other():\n", b"    pass\n"]
    copies = Source("a.py", LINES, ()), Source("lib/b.py", [*helper, *LINES], helper)
    assert moved_to(LATER, *copies) == FUNCTION.encode()
    unlike = Source("c.py", [*LINES[:-1], b"    return 1\n"], ())
    assert moved_to(LATER, *copies, unlike) == CHANGED.encode()
    (one,) = arrivals("new.py", helper, [*helper, *LATER], copies)[1]
    assert one.source == "a.py"


def test_of_copies_the_one_in_the_fewest_folders_counts(tmp_path: Path) -> None:
    rest = "\n\nx = 1\n"
    old = dict.fromkeys(("build/lib/a.py", "lib.py"), FUNCTION + rest) | {"there.py": rest.lstrip()}
    found = difference(tmp_path, old, {**dict.fromkeys(old, rest), "there.py": f"{CHANGED}{rest}"})
    assert [one.source for file in found.files for one in file.arrivals] == ["lib.py"]


def test_the_headings_of_a_text_are_no_functions() -> None:
    text = [b"label\n", b"-----\n", b"def label(number):\n", b"    return short(found)\n"]
    assert "label" in functions_in("README", text)
    module = Source("old.py", LINES, ())
    assert moved_to(LATER, Source("README", text, ()), module) == FUNCTION.encode()
    for one, other, is_one in (
        ("a.h", "b.cpp", True),
        ("a.js", "b.jsx", True),
        ("a.go", "b.go", True),
        ("a", "b", True),
    ):
        assert Source(one, (), ()).is_of_kind(other) is is_one
    for path in ("old.txt", "old.c", "old", "METADATA"):
        assert not module.is_of_kind(path)


def test_the_functions_of_a_file_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[str]()
    real = origins.symbols_of
    monkeypatch.setattr(origins, "symbols_of", lambda path, lines: (looked.update([path]), real(path, lines))[1])
    origin = Source("old.py", LINES, ())
    for number in range(9):
        as_they_were(f"{number}.py", LATER, [origin])
    assert looked["old.py"] == 2  # before, and after
