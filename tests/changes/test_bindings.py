"""What the names that a module binds bind together, and what is applied where an error misses none."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.bindings import needs_of_bindings
from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.difference import Difference
from replay_dd.changes.expansion import additions
from replay_dd.changes.levels import groups, symbol_of
from replay_dd.changes.names import Names
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.workshop import Trial, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import Files, difference, python

pytestmark = pytest.mark.once


def test_names_are_bound_outside_of_functions_and_classes() -> None:
    text = b"""\
import os.path, json as reader
from a import (
    b,
    c as d,
)
if b:
    one, (two, three[0]) = 1, 2
else:
    try:
        four: int = 4
    except d as error:
        five = error
def f(six):
    seven = six
class C:
    eight = 8
"""
    names = {"os": [0], "reader": [0], "b": [2], "d": [3], "one": [6], "two": [6], "four": [9], "five": [11]}
    assert bound_at_top(text.splitlines(keepends=True)) == {**names, "f": [12], "C": [14]}
    assert not bound_at_top([b"def f(:\n"])


def needed(folder: Path, old: str, new: str) -> set[tuple[str, str]]:
    """The lines that need others by their names, and these."""
    found = difference(folder, {"a.py": old}, {"a.py": new})
    return {(_line(found, one), _line(found, other)) for one, other in needs_of_bindings(found, Names(found))}


def _line(found: Difference, delta: int) -> str:
    change, (file,) = found.line_change(delta), found.files
    assert change is not None
    lines = [*file.before[change.old : change.old_stop], *file.after[change.new : change.new_stop]]
    return b" ".join(line.strip() for line in lines).decode()


def test_a_use_needs_an_import_of_a_name_that_was_only_mentioned(tmp_path: Path) -> None:
    old = "import os\n\n\ndef f(a):\n    return [t for t in a]\n\n\ndef g(a):\n    return a\n"
    new = old.replace("import os", "import os\nimport typing as t").replace("g(a)", "g(a: t.Any)")
    assert needed(tmp_path / "comes", old, new) == {("def g(a): def g(a: t.Any):", "import typing as t")}
    assert needed(tmp_path / "goes", new, old) == {("import typing as t", "def g(a: t.Any): def g(a):")}


def test_a_name_goes_when_another_line_binds_it(tmp_path: Path) -> None:
    old = "import sys\nfrom compat import intern\n\nx = intern('a')\ny = 1\n\n\ndef f():\n    pass\n"
    new = "import sys\n\nx = intern('a')\ny = 1\n\n\ndef f():\n    pass\n"
    moved = new.replace("x = ", "from sys import intern\nx = ")
    one, other = "from compat import intern", "from sys import intern"
    assert needed(tmp_path / "moved", old, moved) == {(one, other), (other, one)}
    assert not needed(tmp_path / "replaced", old, old.replace("y = 1", "y = 2"))
    assert not needed(tmp_path / "twice", "from sys import intern\n" + old, "from sys import intern\n" + new)


def test_an_import_of_a_name_that_was_only_mentioned_is_an_addition(tmp_path: Path) -> None:
    old = "def f(a):\n    return [t for t in a]\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": f"import typing as t\n{old}"})
    assert additions(found, found.all, lambda deltas: ()) == found.all


def run_resolved(found: Difference, asked: IntervalSet, missing: str, place: tuple[str, str]) -> list[IntervalSet]:
    """What is run in the place of a mixture whose error misses a name at a place, until the rest of all is applied."""
    tried: list[IntervalSet] = []

    def trial(deltas: IntervalSet) -> Trial:
        tried.append(deltas)
        verdict = Outcome.UNRESOLVED if len(tried) == 1 else Outcome.PASS
        return Trial(Ending(verdict, "", ""), (missing,), place=place)

    Resolution(found).run(asked, EMPTY, found.all, trial, lambda made: made.ending.verdict, ())
    return tried


def test_of_a_name_that_each_file_imports_that_in_the_file_of_the_error_is_applied(tmp_path: Path) -> None:
    old: Files = {f"m{number:02}.py": "x = 1\n" for number in range(14)}
    new: Files = dict.fromkeys(old, "import typing as t\nx = 1\n")
    found = difference(tmp_path, old, {**new, "z.py": "y = 1\n"})
    asked = found.deltas_of(14)
    first, second = run_resolved(found, asked, "t", ("m03.py", ""))
    assert (first, second) == (asked, asked | found.deltas_of(3))


def test_where_no_name_is_missed_the_rest_of_the_function_is_applied(tmp_path: Path) -> None:
    old = "def f(a):\n    b = a[0]\n    return b\n\n\ndef g():\n    return 1\n"
    new = "def f(a):\n    b = a[:1]\n    return b or 0\n\n\ndef g():\n    return 2\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    one, two, other = (IntervalSet.of([delta]) for delta in found.all)
    assert run_resolved(found, one, "", ("a.py", "f")) == [one, one | two]
    assert run_resolved(found, one, "", ("a.py", "")) == [one]
    assert run_resolved(found, other, "", ("b.py", "f")) == [other]


def test_the_place_of_a_failure_is_the_innermost_function_that_may_have_changed(tmp_path: Path) -> None:
    old = {"a.py": "import b\n\n\ndef f():\n    return b.g()\n", "b.py": "def g():\n    return 1\n"}
    new = {"a.py": old["a.py"].replace("g()", "g(1)"), "b.py": "\n\n\n" + old["b.py"]}
    found = difference(tmp_path, old, new)
    with Workshop(found, python("-c", "import a; a.f()"), Oracle()) as workshop:
        assert workshop.trial(found.all).place == ("a.py", "f")
        assert workshop.trial(EMPTY).place is None


def test_a_mixture_that_python_does_not_compile_is_not_run(tmp_path: Path) -> None:
    """The parser takes a `return` outside of functions."""
    old, new = "x = 1\n", "def f():\n    y = 1\n    return y\n"
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    last = IntervalSet.of([*found.all][-1:])
    with Workshop(found, python("a.py"), Oracle()) as workshop:
        assert workshop.trial(last).ending.signature == "does not parse"


STAMP_OLD = """\
import datetime


class Zone(datetime.tzinfo):
    name = "UTC"

    def utcoffset(self, when):
        return datetime.timedelta(0)


UTC = Zone()


def other():
    return 1


def stamp(when):
    return when.astimezone(UTC)
"""
STAMP_NEW = "def other():\n    return 2\n\n\ndef stamp(when):\n    return when\n"


def test_what_takes_away_the_names_of_an_undone_change_is_undone_with_it(tmp_path: Path) -> None:
    found = difference(tmp_path, {"a.py": STAMP_OLD}, {"a.py": STAMP_NEW})
    parts = {symbol_of(found, part.first): part for part in groups(found, found.all, "function")}
    missed = iter(["UTC", "Zone", ""])
    tried: list[IntervalSet] = []

    def trial(deltas: IntervalSet) -> Trial:
        tried.append(deltas)
        name = next(missed)
        return Trial(Ending(Outcome.UNRESOLVED if name else Outcome.PASS, "", ""), (name,), place=("a.py", "stamp"))

    resolution, asked = Resolution(found), found.all - parts["stamp"]
    made = resolution.run(asked, EMPTY, found.all, trial, lambda made: made.ending.verdict, (), undoing=True)
    assert made.ending.verdict is Outcome.PASS
    assert tried == [asked, asked - parts[""], parts["other"]]
    resolved = resolution.resolved(asked)
    assert resolved is not None
    assert (resolved.deltas, resolved.names) == (parts["other"], ())

    for base, undoing in ((parts["other"] | parts[""], True), (EMPTY, False)):  # what every mixture has stays
        missed = iter(["UTC", ""])
        tried.clear()
        resolution.run(asked, base, found.all, trial, lambda made: made.ending.verdict, (), undoing=undoing)
        assert tried == [asked]
