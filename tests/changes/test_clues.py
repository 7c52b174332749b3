"""What a failure names is tried before a search."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.clues import Clues, clues_in, guesses, program_words, taking_away
from replay_dd.changes.dependences import Dependences
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.levels import DEFAULT_LEVELS, symbol_of
from replay_dd.changes.names import Names
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.tree import read_tree
from replay_dd.changes.workshop import Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from tests.changes.versions import Files, difference, patch, python, tree, write

pytestmark = pytest.mark.once


def test_names_and_places_of_a_failure() -> None:
    output = (
        b"Traceback (most recent call last):\n"
        b'  File "shop/prices.py", line 12, in total\n    return size\n'
        b"NameError: name 'size' is not defined\n"
        b"shop/area.c:7:3: error: expected ';'\nat draw (lib/app.js:4)\n"
    )
    found = clues_in(output)
    assert "size" in found.names
    assert found.places == (("shop/prices.py", 11), ("shop/area.c", 6), ("lib/app.js", 3))
    assert clues_in(b"\xff\n") == Clues()


def test_the_names_in_the_program_that_is_run(tmp_path: Path) -> None:
    write(tmp_path / "version", {"tests/test_a.py": "from shop import total\n"})
    outside = write(tmp_path / "here", {"own.py": "import prices\n"}) / "own.py"
    version = read_tree(tmp_path / "version")
    assert "total" in program_words(("pytest", "tests/test_a.py::test_one"), version)
    assert "prices" in program_words(("python", str(outside)), version)
    assert {"shop", "average"} <= program_words(("python", "-c", "import shop; shop.average()"), version)
    assert not program_words(("total",), version)  # the program itself is none of its names


def _functions(changed: bool, *others: str) -> str:
    """A module with seven functions, all but the first of which change."""
    functions = [f"def item{number}():\n    return {-number if changed else number}\n" for number in range(7)]
    return "\n\n".join([*functions, *others])


@pytest.mark.parametrize(
    "clues, program, expected",
    [
        (Clues(names=("LIMIT",)), (), {"LIMIT = 3\n"}),
        (Clues(places=(("items.py", 9),)), (), {"    return -2\n"}),
        (Clues(places=(("items.py", 9),)), ("item4",), {"    return -2\n", "    return -4\n"}),
        (Clues(), ("item0",), set()),
        (Clues(names=("gone",), places=(("other.py", 1), ("items.py", 10_000))), (), set()),
        (Clues(), tuple(f"item{number}" for number in range(7)), set()),  # nearly everything tells nothing
    ],
)
def test_what_is_suspected(tmp_path: Path, clues: Clues, program: tuple[str, ...], expected: set[str]) -> None:
    found = difference(tmp_path, {"items.py": _functions(False, "LIMIT = 3\n")}, {"items.py": _functions(True)})
    told = guesses(Dependences(found, Names(found)), clues, frozenset(program), found.all)
    texts = set()
    for delta in told[-1] if told else ():
        change, file = found.line_change(delta), found.files[0]
        assert change is not None
        texts.update(file.after[change.new : change.new_stop] or file.before[change.old : change.old_stop])
    assert {text.decode() for text in texts if text.strip()} == expected
    assert all(one <= other for one, other in itertools.pairwise(told))


def test_of_a_name_that_many_define_those_in_a_class_that_is_named_count(tmp_path: Path) -> None:
    old = "\n\n".join(
        f"class Item{number}:\n    a = 1\n\n    def total(self):\n        return 1\n" for number in range(20)
    )
    found = difference(tmp_path, {"items.py": old}, {"items.py": old.replace("def total", "def sum")})
    clues = Clues(names=("Item7", "total"))
    (told,) = guesses(Dependences(found, Names(found)), clues, frozenset(), found.all)
    lines = {found.files[0].before[change.old] for delta in told if (change := found.line_change(delta)) is not None}
    assert lines == {b"    def total(self):\n"}
    assert {symbol_of(found, delta) for delta in told} <= {"Item7.total", "Item7.sum"}
    assert guesses(Dependences(found, Names(found)), Clues(names=("total",)), frozenset(), found.all) == []


def test_a_place_outside_of_functions_is_its_line(tmp_path: Path) -> None:
    old, new = (f"FIRST = {number}\n\n\n{_functions(number > 0)}\n\nLAST = {number}\n" for number in (0, 1))
    found = difference(tmp_path, {"items.py": old}, {"items.py": new})
    clues = Clues(places=(("items.py", new.splitlines().index("LAST = 1")),))
    ((delta,),) = guesses(Dependences(found, Names(found)), clues, frozenset(), found.all)
    change = found.line_change(delta)
    assert change is not None
    assert found.files[0].after[change.new] == b"LAST = 1\n"


def test_what_is_not_searched_is_not_suspected(tmp_path: Path) -> None:
    found = difference(tmp_path, {"items.py": _functions(False)}, {"items.py": _functions(True)})
    dependences = Dependences(found, Names(found))
    assert guesses(dependences, Clues(), frozenset({"item4"}), found.all)
    assert not guesses(dependences, Clues(), frozenset({"item4"}), IntervalSet.of([0, 1]))


def test_a_package_that_is_rewritten(tmp_path: Path) -> None:
    """No mixture of its modules can be imported, but the message names what was removed."""

    def package(generation: str, limits: str) -> dict[str, str]:
        numbers = range(10)
        modules = {
            f"pack/part{number}.py": f"from pack.core import same\nsame('{generation}')\n"
            + "".join(f"\n\ndef own{number}{one}():\n    return '{generation}'\n" for one in range(4))
            for number in numbers
        }
        core = "SEEN = set()\n\n\ndef same(one):\n    SEEN.add(one)\n    assert len(SEEN) == 1, 'mixed'\n"
        start = "".join(f"from pack import part{number}\n" for number in numbers)
        return {"pack/__init__.py": start, "pack/core.py": core, "pack/limits.py": limits, **modules}

    old = package("old", "MOST = 3\nLIMIT = 7\nLEAST = 1\n")
    new = package("new", "MOST = 4\nLEAST = 2\n")
    found = isolate_changes(
        tree(tmp_path / "old", old),
        tree(tmp_path / "new", new),
        python("-c", "import pack.limits; print(pack.limits.LIMIT)"),
    )
    assert [found.difference.files[found.difference.file_of(delta)].path for delta in found.guilty] == [
        "pack/limits.py"
    ]
    assert found.guilty.count == 1
    assert found.needed == found.guilty
    assert len(found.isolation.steps) < 10


def test_what_takes_a_missing_name_away_is_tried_first_as_it_is(tmp_path: Path) -> None:
    old: Files = {"p/__init__.py": "from . import b\nfrom .a import Sort\n", "p/a.py": "class Sort:\n    x = 1\n"}
    new: Files = {"p/__init__.py": "from . import b\nfrom .c import sort\n", "p/c.py": "def sort():\n    return 1\n"}
    tables = [{"p/b.py": "".join(f"x{one} = 1\ny{one} = {value}\n" for one in range(12))} for value in (1, 2)]
    found = difference(tmp_path, {**old, **tables[0]}, {**new, **tables[1]})
    names = Names(found)
    dependences = Dependences(found, names)
    gone = taking_away(dependences, ("Sort", "nowhere"), found.all)
    assert gone == names.unimporting("Sort") != EMPTY
    assert names.undefining("Sort")  # with the file that is removed
    assert taking_away(dependences, ("Sort",), names.undefining("Sort")) == EMPTY
    target = python("-c", "from p import Sort")
    answer = isolate_changes(
        tree(tmp_path / "1", {**old, **tables[0]}), tree(tmp_path / "2", {**new, **tables[1]}), target
    )
    assert patch(answer) == ["-from .a import Sort"]
    assert answer.isolation.tests <= 8
    with Workshop(found, target, Oracle()) as workshop:
        circumstance = CodeChanges(found, workshop, DEFAULT_LEVELS, resolution=Resolution(found, workshop.breaks))
        circumstance.settle([circumstance.run(found.all)])
        assert circumstance.own_algorithm(found.all).ask() == gone
