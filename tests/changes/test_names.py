"""Which names changes define and use: what is written for people does neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.names import Names, names_defined
from tests.changes.versions import difference

pytestmark = pytest.mark.once

TEXT = '''\
def f():
    """One.

    inside {mark}
    last {mark}"""
    # comment {mark}
    g()  # trailing {mark}
    return "#{kept}"
'''


def test_texts_and_comments_use_no_names(tmp_path: Path) -> None:
    old, new = (TEXT.format(mark=mark, kept=kept) for mark, kept in (("x", "x"), ("wanted", "kept")))
    names = Names(difference(tmp_path, {"a.py": old, "b.py": ""}, {"a.py": new, "b.py": "", "c.py": new}))
    assert not names.mentioning("wanted")
    assert names.mentioning("kept").count == 2


def test_a_text_that_is_assigned_still_defines_its_name(tmp_path: Path) -> None:
    names = Names(difference(tmp_path, {"a.py": "a = 1\n"}, {"a.py": 'a = 1\nb = """c\nd\n""" + e\n'}))
    assert names.defining("b").count == names.adding("e").count == 1
    assert not names.adding("c") | names.adding("d")


@pytest.mark.parametrize("path", ["notes.md", "docs/a.rst", "p-1.0.dist-info/METADATA", "p/py.typed"])
def test_files_for_people_use_no_names(tmp_path: Path, path: str) -> None:
    names = Names(difference(tmp_path, {path: "a\n", "m": "a\n"}, {path: "type wanted\n", "m": "wanted\n"}))
    assert names.adding("wanted").count == 1
    assert not names.defining("wanted")


@pytest.mark.parametrize(
    ("line", "defined"),
    [
        ("    def keys(self) -> typing.Iterator[str]:", {"keys", "self"}),
        ("def f(a, *b: T, c=d, **e):", {"f", "a", "b", "c", "e"}),
        ("async def f(a: T = g(h)) -> None: pass", {"f", "a"}),
        ("    def __iter__(self):", {"self"}),
        ("__all__ = []", {"__all__"}),
    ],
)
def test_a_function_defines_its_name_and_its_parameters(line: str, defined: set[str]) -> None:
    assert set(names_defined(line, python=True)) - {"h"} == defined
