"""Differences of versions: any set of deltas can be applied, none gives the old version and all the new one."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.changes.difference import Clash, Difference
from replay_dd.changes.file_change import Kind, Version
from replay_dd.changes.levels import DEFAULT_LEVELS, LEVELS, groups, symbol_of
from replay_dd.changes.outlines import outline
from replay_dd.changes.patch import patch_between
from replay_dd.changes.tree import read_tree
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.user import VersionError
from tests.changes.versions import NEW, OLD, Files, difference, tree, write


def content(version: Version | None) -> bytes | None:
    if version is None:
        return None
    if version.content is not None:
        return version.content
    assert version.entry is not None
    return version.entry.read()


def applied(found: Difference, configuration: IntervalSet) -> dict[str, bytes]:
    """What lies where with these deltas applied."""
    files = {path: entry.read() for path, entry in found.old.items()}
    for path, version in found.mixture(configuration).items():
        text = content(version)
        if text is None:
            del files[path]
        else:
            files[path] = text
    return files


LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "\r", ""]), max_size=8).map("\n".join)
FILES = st.dictionaries(st.sampled_from(["a.py", "b", "sub/c", "sub/d.txt"]), LINES, max_size=4)


@settings(max_examples=150, deadline=None)
@given(old=FILES, new=FILES)
def test_all_deltas_make_the_new_version_and_any_set_can_be_applied(
    old: Files, new: Files, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = difference(tmp_path_factory.mktemp("versions"), old, new)
    assert applied(found, EMPTY) == {name: str(text).encode() for name, text in old.items()}
    assert applied(found, found.all) == {name: str(text).encode() for name, text in new.items()}
    for delta in found.all:
        assert applied(found, IntervalSet.of([delta])) != applied(found, EMPTY)
        assert applied(found, found.all - IntervalSet.of([delta])) != applied(found, found.all)


def test_lines_are_replaced_removed_and_inserted(tmp_path: Path) -> None:
    found = difference(tmp_path, {"f": "1\n2\n3\n4\n5\n"}, {"f": "1\nTWO\n3\n5\nsix"})
    assert [applied(found, IntervalSet.of([delta]))["f"] for delta in found.all] == [
        b"1\nTWO\n3\n4\n5\n",
        b"1\n2\n3\n5\n",
        b"1\n2\n3\n4\n5\nsix",
    ]


def test_what_is_not_text_is_one_delta(tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"binary": b"\0\1\n\2", "gone": "x", "script": "a\n", "moved": "one\ntwo\nthree\n"})
    new = write(tmp_path / "new", {"binary": b"\0\1\n\3", "come": "y", "script": "a\n", "there": "one\ntwo\nfour\n"})
    (new / "script").chmod(0o755)
    (old / "link").symlink_to("gone")
    (new / "link").symlink_to("come")
    found = Difference(read_tree(old), read_tree(new))
    assert [(found.files[found.file_of(delta)].path, found.kind(delta)) for delta in found.all] == [
        ("binary", Kind.REPLACE),
        ("come", Kind.ADD),
        ("gone", Kind.REMOVE),
        ("link", Kind.REPLACE),
        ("script", Kind.MODE),
        ("there", Kind.RENAME),
        ("there", Kind.LINE),
    ]
    renamed_only = found.mixture(IntervalSet.of([5]))
    assert {path: content(version) for path, version in renamed_only.items()} == {
        "moved": None,
        "there": b"one\ntwo\nthree\n",
    }
    changed_only = found.mixture(IntervalSet.of([6]))
    assert {path: content(version) for path, version in changed_only.items()} == {"moved": b"one\ntwo\nfour\n"}


def test_links_are_told_by_where_they_lead(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", {"a": "x", "b": "y"}), write(tmp_path / "new", {"a": "x", "b": "y", "file": ""})
    (old / "file").symlink_to("a")
    (old / "link").write_text("no link")
    (new / "link").symlink_to("b")
    (old / "moves").symlink_to("a")
    (new / "moves").symlink_to("b")
    found = Difference(read_tree(old), read_tree(new))
    assert [found.files[found.file_of(delta)].words(found.kind(delta)) for delta in found.all] == [
        "file is a file, no link to a",
        "link links to b, and is no file",
        "moves links to b, not to a",
    ]


def test_blank_lines_make_no_two_files_alike(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", {"a": "one\n" + 20 * "\n"}), write(tmp_path / "new", {"b": "two\n" + 21 * "\n"})
    found = Difference(read_tree(old), read_tree(new))
    assert {found.kind(delta) for delta in found.all} == {Kind.ADD, Kind.REMOVE}


def test_two_things_at_one_place_clash(tmp_path: Path) -> None:
    found = difference(tmp_path, {"a": "1"}, {"a/b": "2\n3\n4"})
    assert found.all.count == 2
    with pytest.raises(Clash, match="a would be a file and a folder"):
        found.mixture(IntervalSet.of([1]))
    assert applied(found, found.all) == {"a/b": b"2\n3\n4"}


def test_version_control_and_compiled_files_do_not_count(tmp_path: Path) -> None:
    files = {"a.py": "", ".git/config": "x", "sub/__pycache__/a.pyc": "x", ".gitignore": "x"}
    assert list(tree(tmp_path, files)) == [".gitignore", "a.py"]


def test_a_pipe_is_no_file_of_a_version(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(VersionError, match="pipe is neither"):
        read_tree(tmp_path)


@pytest.mark.parametrize("level", LEVELS)
def test_groups_are_partitions(level: str, tmp_path: Path) -> None:
    found = difference(tmp_path, {"a/p.py": OLD, "b": "1\n", "c": "x"}, {"a/p.py": NEW, "b": "2\n", "d": "y\nz"})
    made = groups(found, found.all, level)
    assert sum(group.count for group in made) == found.all.count
    assert IntervalSet.of([delta for group in made for delta in group]) == found.all


def test_levels_become_finer(tmp_path: Path) -> None:
    found = difference(tmp_path, {"a/p.py": OLD, "q.py": "x = 1\n"}, {"a/p.py": NEW, "q.py": "x = 2\n"})
    counts = [len(groups(found, found.all, level)) for level in DEFAULT_LEVELS]
    assert counts[:2] == [2, 2]
    assert counts == sorted(counts)
    assert counts[2] == 4, "total, average, show, and the line of q.py"


def test_a_statement_is_a_unit(tmp_path: Path) -> None:
    old = "x = f(\n    1,\n    2,\n)\ny = 2\n"
    new = "x = g(\n    3,\n    4,\n)\ny = 3\n"
    found = difference(tmp_path, {"p.py": old}, {"p.py": new})
    assert [group.count for group in groups(found, found.all, "statement")] == [3, 1]
    assert [group.count for group in groups(found, found.all, "line")] == [1, 1, 1, 1]


def test_functions_are_named(tmp_path: Path) -> None:
    old = "class A:\n    @property\n    def b(self):\n        return 1\n\nc = 1\n"
    found = difference(tmp_path, {"p.py": old}, {"p.py": old.replace("1", "2")})
    assert [symbol_of(found, delta) for delta in found.all] == ["A.b", ""]


def test_other_languages_are_named_by_what_is_not_indented(tmp_path: Path) -> None:
    old = "func f(int)\n{\n  return 1;\n}\n\nfunc g()\n{\n  return 1;\n}\nset 1\nset 1\n"
    new = old.replace("1", "2").replace("(int)", "(long)")
    found = difference(tmp_path, {"p.go": old}, {"p.go": new})
    # The heading belongs to what it heads; lines that stand alone do not.
    told = [symbol_of(found, delta) for delta in found.all]
    assert told == ["func f(long)", "func f(long)", "func g()", "", ""]


C = """\
#include <stdio.h>

static const char *
name(int n)
{
  if (n > 1) {
    printf("%d",
           n);
  }
  return "n";
}

struct size {
  int width;
};
"""
JAVA = """\
class Prices {
  int total(int n) {
    int sum = 0;
    return n
        + sum;
  }
}
"""
JAVASCRIPT = """\
function total(n) {
  return n;
}

class Prices {
  first() { return 1; }
}
"""


@pytest.mark.parametrize(
    "path, text, line, symbol, statement",
    [
        ("p.c", C, 2, "name", 2),
        ("p.c", C, 3, "name", 2),
        ("p.c", C, 7, "name", 6),
        ("p.c", C, 8, "name", 5),
        ("p.c", C, 10, "name", 2),
        ("p.c", C, 11, "", 11),
        ("p.c", C, 13, "size", 13),
        ("p.cpp", C, 7, "name", 6),
        ("P.java", JAVA, 4, "Prices.total", 3),
        ("p.js", JAVASCRIPT, 1, "total", 1),
        ("p.js", JAVASCRIPT, 5, "Prices.first", 5),
    ],
)
def test_functions_and_statements_of_other_languages(
    path: str, text: str, line: int, symbol: str, statement: int, tmp_path: Path
) -> None:
    found = difference(tmp_path, {path: text}, {path: text + "\n"})
    known = outline(found.files[0], new=False)
    assert (known.symbol_at(line), known.statement_at(line)) == (symbol, statement)


def test_without_the_grammar_headings_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    found = difference(tmp_path, {"p.c": C}, {"p.c": C.replace('"n"', '"m"')})
    (delta,) = found.all
    assert symbol_of(found, delta) == "name(int n)"


def test_a_patch_can_be_applied(tmp_path: Path) -> None:
    import subprocess

    old = {"a.py": OLD, "gone": "x\n", "same": "s\n", "end": "no newline"}
    new = {"a.py": NEW, "come/here": "y\n", "same": "s\n", "end": "no newline\n"}
    found = difference(tmp_path, old, new)
    (tmp_path / "all.patch").write_bytes(patch_between(found, EMPTY, found.all))
    subprocess.run(["git", "apply", "-p1", "../all.patch"], cwd=tmp_path / "old", check=True, capture_output=True)
    assert {path: entry.read() for path, entry in read_tree(tmp_path / "old").items()} == {
        name: text.encode() for name, text in new.items()
    }


def test_a_patch_has_links_binaries_modes_and_names_of_any_kind(tmp_path: Path) -> None:
    import subprocess

    strange = os.fsdecode(b'caf\xe9 "1".txt')
    old: Files = {
        "binary": b"\0\1\n" * 50, "gone.bin": b"\0", "becomes a link": "x\n", strange: "1\n", "tool": "#!/bin/sh\n",
        "windows.txt": b"1\r\n2\r\n", "latin": b"\xe9\n1\n",
    }  # fmt: skip
    new: Files = {
        "binary": bytes(range(256)) * 3, "come.bin": b"\0\2", "becomes a file": "y\n", strange: "2\n",
        "tool": "#!/bin/sh\n", "windows.txt": b"1\r\n3\r\n", "latin": b"\xe9\n2\n",
    }  # fmt: skip
    left, right = write(tmp_path / "old", old), write(tmp_path / "new", new)
    (left / "becomes a file").symlink_to("tool")
    (right / "becomes a link").symlink_to("tool")
    (left / "link").symlink_to("tool")
    (right / "link").symlink_to("binary")
    (right / "tool").chmod(0o755)
    found = Difference(read_tree(left), read_tree(right))
    patch = tmp_path / "all.patch"
    patch.write_bytes(patch_between(found, EMPTY, found.all))
    # Without the mode, `patch` takes a link for a file, and refuses.
    assert re.search(rb"diff --git a/link b/link\nindex \w{40}\.\.\w{40} 120000\n---", patch.read_bytes())
    for arguments, expected in ((["-p1"], right), (["-R", "-p1"], None)):
        subprocess.run(["git", "-c", "core.autocrlf=false", "apply", *arguments, str(patch)], cwd=left, check=True)
        made = read_tree(left)
        there = read_tree(expected) if expected is not None else found.old
        assert {path: (entry.link, entry.mode & 0o100) for path, entry in made.items()} == {
            path: (entry.link, entry.mode & 0o100) for path, entry in there.items()
        }
        contents = new if expected is not None else old
        assert {path: entry.read() for path, entry in made.items() if entry.link is None} == {
            name: text if isinstance(text, bytes) else text.encode() for name, text in contents.items()
        }


def test_a_function_that_is_removed_is_one_statement(tmp_path: Path) -> None:
    """Without its head alone, its body would belong to the function above."""
    kept, gone = "def f():\n    return 1\n\n\n", 'def g():\n    """Old."""\n    x = 1\n    return x\n\n\n'
    changed, shorter = "def h():\n    x = 1\n    y = 2\n    return x\n", "def h():\n    return x\n"
    versions = difference(tmp_path, {"a.py": kept + gone + changed}, {"a.py": kept + shorter})
    statements = groups(versions, versions.all, "statement")
    changes = [[versions.line_change(delta) for delta in group] for group in statements]
    numbers = [[change.old for change in group if change is not None] for group in changes]
    assert [4, 5, 6, 7] in [[line for line in group if line < 8] for group in numbers]
    assert numbers[-2:] == [[11], [12]], "of a function that stays, statements go one by one"


def test_quotes_that_open_a_string_do_not_stay_as_those_that_close_it(tmp_path: Path) -> None:
    old = 'def f():\n    """\n    Old words.\n    """\n    return 1\n'
    new = 'def f():\n    """New words.\n\n    More of them.\n    """\n    return 2\n'
    versions = difference(tmp_path, {"a.py": old}, {"a.py": new})
    statements = groups(versions, versions.all, "statement")
    texts = [versions.files[0].version([versions.local(delta) for delta in group])[1] for group in statements]
    assert [text.content for text in texts if text is not None] == [
        new.replace("2", "1").encode(),
        old.replace("1", "2").encode(),
    ]


def deltas_of_lines(folder: Path, path: str, old: str, new: str) -> list[tuple[str, str]]:
    """What each line change removes and adds."""
    found = difference(folder, {path: old}, {path: new})
    (file,) = found.files
    before, after = old.splitlines(), new.splitlines()
    return [
        ("|".join(before[line.old : line.old_stop]), "|".join(after[line.new : line.new_stop])) for line in file.lines
    ]


def test_a_line_becomes_the_one_that_it_is_like(tmp_path: Path) -> None:
    old = '#define BUF 16\n#define NAME "a"\n'
    new = '/* Settings. */\n#define BUF 8\n#define NAME "prog"\n#define VERSION 2\n'
    assert deltas_of_lines(tmp_path, "conf.h", old, new) == [
        ("", "/* Settings. */"),
        ("#define BUF 16", "#define BUF 8"),
        ('#define NAME "a"', '#define NAME "prog"'),
        ("", "#define VERSION 2"),
    ]


def test_settings_with_the_same_key_belong_together(tmp_path: Path) -> None:
    old, new = "port: 80\nhost: a\nlimit: 5\n", "level: 3\nport: 90\nmode: a\nhost: b\nlimit: 6\n"
    assert deltas_of_lines(tmp_path, "app.yaml", old, new) == [
        ("", "level: 3"),
        ("port: 80", "port: 90"),
        ("", "mode: a"),
        ("host: a", "host: b"),
        ("limit: 5", "limit: 6"),
    ]


def test_a_return_becomes_a_return_and_a_value_one_of_the_same_name(tmp_path: Path) -> None:
    """Even where another new line has more words in common, or comes first."""
    old = "def f():\n    x = shout(words, mark)\n    y = 1\n    return b'.'.join(parts)\n"
    new = "def f():\n    if not words:\n        warn(mark)\n    sign = tell(2)\n    x = sign + text\n    y = 1\n"
    new += "    joined = b'.'.join(parts)\n    return joined.decode()\n"
    assert [pair for pair in deltas_of_lines(tmp_path, "a.py", old, new) if all(pair)] == [
        ("    x = shout(words, mark)", "    x = sign + text"),
        ("    return b'.'.join(parts)", "    return joined.decode()"),
    ]


def test_lines_that_are_not_alike_are_replaced_in_order(tmp_path: Path) -> None:
    old, new = "one two\nthree\n", "four\nfive six\nseven\n"
    assert deltas_of_lines(tmp_path, "a.txt", old, new) == [("one two", "four"), ("three", "five six"), ("", "seven")]


def test_a_function_with_another_head_becomes_itself_whatever_blank_lines_say(tmp_path: Path) -> None:
    old = "import time\ndef now():\n    return time.time(UTC)\n\ndef text(moment):\n    return str(moment)\n"
    new = (
        "import time\nUTC = 1\n\ndef now(zone=None):\n    '''Now.'''\n    return time.time(zone)\n\n"
        "def text(moment, form=0):\n    return str(moment, form)\n\ndef epoch(moment):\n    return moment\n"
    )
    assert deltas_of_lines(tmp_path, "clock.py", old, new)[:5] == [
        ("", "UTC = 1"),
        ("", ""),
        ("def now():", "def now(zone=None):"),
        ("", "    '''Now.'''"),
        ("    return time.time(UTC)", "    return time.time(zone)"),
    ]


def test_lines_of_other_functions_are_not_alike(tmp_path: Path) -> None:
    old = "def one(a):\n    return call(a, 1)\n"
    new = "def two(b):\n    pass\n\n\ndef three(c):\n    return call(c, 1)\n"
    changes = deltas_of_lines(tmp_path, "a.py", old, new)
    assert ("    return call(a, 1)", "    return call(c, 1)") not in changes


def test_blank_lines_that_are_not_alike_alone_stay(tmp_path: Path) -> None:
    old, new = "a b\n\nc d\n", "e f\n\ng h\n"
    assert deltas_of_lines(tmp_path, "a.txt", old, new) == [("a b", "e f"), ("c d", "g h")]
    found = difference(tmp_path / "x", {"a": old}, {"a": new})
    assert [change.hunk for file in found.files for change in file.lines] == [0, 1]


def test_a_digest_tells_what_is_gone_from_what_stays(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", {"a": "1\n", "b": "2\n"})
    stays, gone = (Difference(old, {path: old[path] for path in paths}) for paths in (("a", "b"), ("a",)))
    assert stays.digest != gone.digest
    assert gone.digest == Difference(tree(tmp_path / "again", {"a": "1\n", "b": "2\n"}), {"a": old["a"]}).digest
