"""What modules lose and get, and what others import from them, go together."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.dependences import Dependences
from replay_dd.changes.difference import Difference
from replay_dd.changes.imports import needs_of_imports
from replay_dd.changes.local_names import needs_of_local_names
from replay_dd.changes.names import Names
from replay_dd.changes.signatures import needs_of_signatures
from replay_dd.dd import IntervalSet
from tests.changes.versions import Files, difference

pytestmark = pytest.mark.once


def told(found: Difference, delta: int) -> str:
    """What a delta does, in a line."""
    change, file = found.line_change(delta), found.files[found.file_of(delta)]
    if change is None:
        return found.words(delta)
    before, after = file.before[change.old : change.old_stop], file.after[change.new : change.new_stop]
    lines = [*(b"- " + line.strip() for line in before), *(b"+ " + line.strip() for line in after)]
    return f"{file.path}: {b' '.join(lines).decode()}"


def needs(folder: Path, old: Files, new: Files) -> set[tuple[str, str]]:
    """The changes that need others by their imports, and these."""
    found = difference(folder, old, new)
    return {(told(found, one), told(found, other)) for one, other in needs_of_imports(found)}


SHAPE = "class Shape:\n    def area(self):\n        return 0\n"
LEFT, CAME = "p/a.py: - class Shape:", "p/b.py: + class Shape:"


def test_a_class_leaves_a_module_with_the_imports_from_there(tmp_path: Path) -> None:
    other = "from p.a import Shape\n"
    old: Files = {"p/__init__.py": "", "p/a.py": f"x = 1\n{SHAPE}", "p/b.py": "y = 2\n", "p/c.py": "z = 3\n"}
    here, there = "from .a import Shape\n", "from .b import Shape\n"
    found = needs(
        tmp_path,
        {**old, "p/c.py": f"{here}z = 3\n", "use.py": f"{other}print(Shape)\n"},
        {
            **old,
            "p/a.py": "x = 1\n",
            "p/b.py": f"y = 2\n{SHAPE}",
            "p/c.py": f"{there}z = 3\n",
            "use.py": "from p.b import Shape\nprint(Shape)\n",
        },
    )
    assert found == {
        (LEFT, "p/c.py: - from .a import Shape"),
        (LEFT, "use.py: - from p.a import Shape"),
        ("p/c.py: + from .b import Shape", CAME),
        ("use.py: + from p.b import Shape", CAME),
    }


def test_what_stays_in_a_module_ties_no_imports(tmp_path: Path) -> None:
    old = {"a.py": SHAPE, "c.py": "from a import Shape\n\n\ndef f():\n    from a import Shape\n"}
    assert not needs(tmp_path / "1", old, {"a.py": SHAPE.replace("0", "1"), "c.py": "print(1)\n"})
    late = {"a.py": "x = 1\n", "c.py": old["c.py"].replace("    from a import Shape", "    pass")}
    assert not needs(tmp_path / "2", old, late)  # of the import in a function nothing is known
    checked = {"a.py": SHAPE, "c.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import Shape\n"}
    assert not needs(tmp_path / "3", checked, {"a.py": "x = 1\n", "c.py": checked["c.py"].replace("    from", "    #")})
    assert not needs(tmp_path / "4", {"a.py": "def (:\n", "c.py": "import a\n"}, {"a.py": "def f(:\n", "c.py": "\n"})


def test_a_file_leaves_with_the_imports_of_it(tmp_path: Path) -> None:
    old: Files = {"a.py": SHAPE, "b.py": "x = 1\n", "c.py": "try:\n    import a\nexcept ImportError:\n    pass\n"}
    new: Files = {"new.py": "y = 2\n", "b.py": "x = 1\nfrom new import y\n", "c.py": "pass\n"}
    assert needs(tmp_path, old, new) == {
        ("a.py is removed", "c.py: - import a"),
        ("b.py: + from new import y", "new.py is added"),
    }


def test_an_import_waits_until_the_ones_in_the_other_direction_are_gone(tmp_path: Path) -> None:
    old: Files = {"a.py": "x = 1\ny = 2\n", "b.py": "import c\nz = 3\n", "c.py": "from a import x\nw = 4\n"}
    new: Files = {"a.py": "import b\nx = 1\ny = 2\n", "b.py": "import c\nz = 4\n", "c.py": "x = 1\nw = 4\n"}
    found = needs(tmp_path / "1", old, new)
    assert found == {("a.py: + import b", "c.py: - from a import x")}
    both = {**new, "c.py": "from a import y\nw = 4\n"}
    assert not needs(tmp_path / "2", old, both)  # as it is in the new version, too


def test_a_module_in_a_package_is_not_found_without_the_name_of_the_package(tmp_path: Path) -> None:
    old: Files = {
        "pkg/json.py": "def loads(x):\n    return x\n",
        "pkg/a.py": "from json import loads\n",
        "b.py": "x = 1\n",
    }
    new: Files = {"pkg/json.py": "y = 1\n", "pkg/a.py": "from math import pi\n", "b.py": "x = 1\n"}
    package: Files = {"pkg/__init__.py": ""}
    assert needs(tmp_path / "1", old, new)
    assert not needs(tmp_path / "2", {**old, **package}, {**new, **package})
    assert needs(tmp_path / "3", old, {**new, **package})  # a package only later


def local_needs(folder: Path, old: str, new: str) -> set[tuple[str, str]]:
    """The lines of a module that need others by local names, and these."""
    found = difference(folder, {"a.py": old}, {"a.py": new})
    pairs = {(told(found, one), told(found, other)) for one, other in needs_of_local_names(found)}
    return {(one.removeprefix("a.py: "), other.removeprefix("a.py: ")) for one, other in pairs}


def test_a_local_name_goes_with_its_last_uses_and_comes_before_the_first(tmp_path: Path) -> None:
    old = "def f(a, limit=2):\n    print(limit)\n    print(a)\n    return limit\n\n\ndef g(limit):\n    return limit\n"
    new = "def f(a):\n    print(a)\n    found = 1\n    return [found for _ in a]\n\n\ndef g(limit):\n    return limit\n"
    head, returned = "- def f(a, limit=2): + def f(a):", "- return limit + return [found for _ in a]"
    assert local_needs(tmp_path / "1", old, new) == {
        (head, "- print(limit)"),
        (head, returned),
        (returned, "+ found = 1"),
    }
    assert not local_needs(tmp_path / "2", old, old.replace("print(limit)", "print(limit, limit)"))
    assert not local_needs(tmp_path / "3", "def f(:\n", "def f(::\n")


def test_a_use_needs_the_nearest_binding_before_it(tmp_path: Path) -> None:
    old = "def f(a):\n    return a\n"
    new = "def f(a):\n    x = 1\n    x += 2\n    x = a\n    while a:\n        a = y\n        y = x\n    return a\n"
    assert local_needs(tmp_path / "1", old, new) == {
        ("+ x += 2", "+ x = 1"),
        ("+ y = x", "+ x = a"),
        ("+ a = y", "+ y = x"),
    }
    many = "".join(f"    x = {n}\n    print(x)\n" for n in range(500))
    found = difference(tmp_path / "2", {"a.py": old}, {"a.py": f"def f(a):\n{many}    return a\n"})
    assert len(list(needs_of_local_names(found))) == 500


def signature_needs(folder: Path, old: Files, new: Files) -> set[tuple[str, str]]:
    """The lines that need others as they are calls and heads, and these."""
    found = difference(folder, old, new)
    return {(told(found, one), told(found, other)) for one, other in needs_of_signatures(found)}


def test_a_call_passes_by_name_what_a_function_has_got(tmp_path: Path) -> None:
    old: Files = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\n\na.f(1)\n"}
    new: Files = {"a.py": "def f(x, size=1):\n    return x\n", "b.py": "import a\n\na.f(1, size=2)\n"}
    head, calls = "a.py: - def f(x): + def f(x, size=1):", "b.py: + a.f(1, size=2)"
    assert signature_needs(tmp_path / "comes", old, new) == {(calls, head)}
    head, calls = "a.py: - def f(x, size=1): + def f(x):", "b.py: - a.f(1, size=2)"
    found = signature_needs(tmp_path / "goes", new, old)
    assert {(head, calls), (calls, head)} <= found


def test_calls_change_with_what_functions_cannot_do_without(tmp_path: Path) -> None:
    old: Files = {"a.py": "class A:\n    def __init__(self, x):\n        self.x = x\n", "b.py": "import a\n\na.A(1)\n"}
    new: Files = {
        "a.py": "class A:\n    def __init__(self, y, *, z):\n        self.x = y\n",
        "b.py": "import a\n\na.A(1, z=2)\n",
    }
    head = "a.py: - def __init__(self, x): + def __init__(self, y, *, z):"
    pairs = [(head, "b.py: - a.A(1)"), (head, "b.py: + a.A(1, z=2)")]
    assert signature_needs(tmp_path / "1", old, new) == {*pairs, *(pair[::-1] for pair in pairs)}
    many = "".join(f"class A{n}:\n    def f(self, x): pass\n" for n in range(13))
    other: Files = {"a.py": many, "b.py": "import a\n\na.A1().f(1)\n"}
    another: Files = {"a.py": many.replace("x)", "y)"), "b.py": "import a\n\na.A1().f(y=1)\n"}
    assert not signature_needs(tmp_path / "2", other, another)  # too many of one name
    kept: Files = {"a.py": f"{old['a.py']!s}class B:\n    def f(self, x): pass\n", "b.py": "import a\n\na.B().f(x=1)\n"}
    less: Files = {"a.py": str(kept["a.py"]).replace("f(self, x)", "f(self)"), "b.py": "import a\n\na.B().f()\n"}
    stays = "class C:\n    def f(self, x): pass\n"
    assert signature_needs(tmp_path / "3", kept, less)
    assert not signature_needs(
        tmp_path / "4", {**kept, "c.py": stays}, {**less, "c.py": f"\n{stays}"}
    )  # the call may mean the other one


def test_calls_that_pass_as_much_as_before_are_free(tmp_path: Path) -> None:
    old: Files = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\n\na.f(1)\nprint(0)\na.f(2)\n"}
    new: Files = {"a.py": "def f(x, y):\n    return x\n", "b.py": "import a\n\na.f(1, 2)\nprint(0)\na.f(3)\n"}
    head, call = "a.py: - def f(x): + def f(x, y):", "b.py: - a.f(1) + a.f(1, 2)"
    assert signature_needs(tmp_path / "1", old, new) == {(head, call), (call, head)}
    other: Files = {"a.py": "def f(y):\n    return y\n", "b.py": str(old["b.py"]).replace("f(2)", "f('2')")}
    head, call = "a.py: - def f(x): + def f(y):", "b.py: - a.f(2) + a.f('2')"
    assert signature_needs(tmp_path / "2", old, other) == {(head, call), (call, head)}  # another meaning


def test_a_mixture_is_completed_by_all_of_these(tmp_path: Path) -> None:
    old: Files = {"a.py": f"x = 1\n{SHAPE}", "b.py": "y = 2\n", "c.py": "from a import Shape\nprint(Shape)\n"}
    new: Files = {"a.py": "x = 1\n", "b.py": f"y = 2\n{SHAPE}", "c.py": "from b import Shape\nprint(Shape)\n"}
    found = difference(tmp_path, old, new)
    (delta,) = (delta for delta in found.all if told(found, delta) == "a.py: - class Shape:")
    closed = Dependences(found, Names(found)).closed(IntervalSet.of([delta]), found.all)
    expected = {"c.py: - from a import Shape", "c.py: + from b import Shape", "b.py: + class Shape:"}
    assert expected <= {told(found, one) for one in closed}
