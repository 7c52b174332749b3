"""Mixtures that miss names, and changes that are never executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.coverage import Executed, executed_in, never_executed
from replay_dd.changes.dependences import Dependences
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.names import Names, missing_names
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.workshop import Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import difference, python, tree

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "output, names",
    [
        ("NameError: name 'unescape' is not defined. Did you mean: 'escape'?", {"unescape", "escape"}),
        ("ImportError: cannot import name 'Printable' from 'app.printing.defaults' (x.py)", {"Printable", "defaults"}),
        ("ModuleNotFoundError: No module named 'app.shapes'", {"shapes"}),
        ("AttributeError: module 'app' has no attribute 'draw'", {"draw"}),
        ("TypeError: Shape.draw() got an unexpected keyword argument 'width'", {"draw", "width"}),
        ("NameError: name '_Shape__draw_all' is not defined", {"_Shape__draw_all", "__draw_all"}),
        ("AttributeError: 'S' object has no attribute '_Shape_2__size_'", {"__size_"}),
        ("a.c:3:5: error: ‘size’ undeclared (first use in this function)", {"size"}),
        ("a.c:3:5: error: use of undeclared identifier 'size'", {"size"}),
        ("a.c:(.text+0x1): undefined reference to `area'", {"area"}),
        ("a.c:1:10: fatal error: shapes.h: No such file or directory", {"shapes.h"}),
        ("./a.go:3:5: undefined: area", {"area"}),
        ("ReferenceError: area is not defined", {"area"}),
        ("AttributeError: 'S' object has no attribute '__special__'", {"S", "__special__"}),
        ("all is well with 'area'", set()),
    ],
)
def test_names_in_errors(output: str, names: set[str]) -> None:
    assert names <= set(missing_names(output.encode()))
    assert bool(missing_names(output.encode())) == bool(names)


def test_which_changes_define_and_mention_a_name(tmp_path: Path) -> None:
    old = "import os\nsize = 1\nprint(size)\n\n\ndef f(a):\n    return a\n"
    new = "from shapes import area, size\nprint(area)\n\n\ndef f(a, width):\n    return a\n"
    found = difference(tmp_path, {"p.py": old}, {"p.py": new, "shapes.py": "def area(): pass\nsize = 1\n"})
    names = Names(found)

    def where(deltas: IntervalSet) -> set[tuple[str, int]]:
        changes = [(found.files[found.file_of(delta)].path, found.line_change(delta)) for delta in deltas]
        return {(path, -1 if change is None else change.new) for path, change in changes}

    assert where(names.defining("area")) == {("shapes.py", -1)}
    assert where(names.importing("area")) == {("p.py", 0)}
    assert where(names.defining("shapes")) == {("shapes.py", -1)}
    assert where(names.defining("width")) == {("p.py", 4)}
    assert not names.defining("print")
    assert ("p.py", 1) in where(names.adding("area"))


USES = {f"use{number}.py": f"from base import old{number} as f\nx = f()\n" for number in range(4)}
BASE_OLD = "".join(f"def old{number}():\n    return {number}\n\n\n" for number in range(4))
MAIN = "import use0, use1, use2, use3\nassert use0.x + use1.x + use2.x + use3.x == 6, 'another sum'\n"


@pytest.mark.parametrize("algorithm", ["dd", "dd+"])
def test_missing_names_are_resolved(algorithm: str, tmp_path: Path) -> None:
    """Each user needs its function, which is in another file; one function is wrong."""
    old = {"base.py": BASE_OLD, "main.py": MAIN, **USES}
    new = {
        **{name: text.replace("old", "new") for name, text in USES.items()},
        "base.py": BASE_OLD.replace("old", "new").replace("return 2", "return 20"),
        "main.py": MAIN,
    }
    results = [
        isolate_changes(
            *(tree(tmp_path / "old", old), tree(tmp_path / "new", new), python("main.py")),
            algorithm=algorithm,
            resolve=resolve,
            jobs=jobs,
        )
        for resolve, jobs in ((True, 1), (True, 3), (False, 1))
    ]
    resolved, in_parallel, plain = results
    assert (resolved.guilty, resolved.needed) == (in_parallel.guilty, in_parallel.needed)
    assert resolved.isolation.tests == in_parallel.isolation.tests
    for found in results:
        lines = [found.difference.line_change(delta) for delta in found.guilty]
        assert any(
            change is not None and found.difference.files[0].after[change.new] == b"    return 20\n" for change in lines
        )
        assert found.isolation.verified
    assert resolved.rounds > 0
    assert plain.rounds == 0
    assert sum(tests for _, tests in resolved.isolation.unresolved) < sum(
        tests for _, tests in plain.isolation.unresolved
    )


def test_what_was_learnt_is_applied_at_once_on_the_next_level(tmp_path: Path) -> None:
    old = {"a/base.py": "x = 1\n", "b/use.py": "y = 2\n", "main.py": "z = 1\n", "other.py": "1  # width\n"}
    new = {
        "a/base.py": "x = 1\nwidth = 3\n",
        "b/use.py": "import a.base\ny = a.base.width\n",
        "main.py": "z = 2\n",
        "other.py": "2  # width\n",
    }
    found = difference(tmp_path, old, new)
    target = python("-c", "import a.base, b.use, main; assert not (b.use.y == 3 and main.z == 2)")
    resolution = Resolution(found)
    with Workshop(found, target, Oracle()) as workshop:

        def level(name: str, candidates: IntervalSet = found.all) -> CodeChanges:
            return CodeChanges(
                found, workshop, [name], candidates=candidates, wanted=first.wanted, resolution=resolution
            )

        first = CodeChanges(found, workshop, ["file", "hunk"], resolution=resolution)
        first.settle([first.run(first.universe)])
        asked, made = found.all - IntervalSet.of([0, max(found.all)]), found.all - IntervalSet.of([max(found.all)])
        run = first.run(asked)
        assert first.judge(run).outcome is Outcome.FAIL
        assert (first.realised(asked, run), resolution.rounds) == (made, 1)
        again = level("hunk")
        assert again.realised(asked, again.run(asked)) == made
        assert resolution.rounds == 2
        assert again._completed(asked, found.all) == asked, "nothing was learnt, since the search has not committed it"
        first.tested(asked, run)
        later = level("hunk", candidates=made)
        assert later._completed(asked, found.all) == made
        # What is not searched is not added.
        part = level("hunk", candidates=asked)
        assert part.judge(part.run(asked - IntervalSet.of([max(asked)]))).outcome is Outcome.UNRESOLVED


def needed_by(folder: Path, old: dict[str, str], new: dict[str, str], users: str) -> set[str]:
    """The lines and files that are needed by the changes which add this text."""
    found = difference(folder, old, new)
    dependences = Dependences(found, Names(found))
    asked, told = EMPTY, {}
    for delta in found.all:
        file, change = found.files[found.file_of(delta)], found.line_change(delta)
        lines = [file.path.encode()] if change is None else file.after[change.new : change.new_stop]
        lines = lines or [b"-" + file.before[found.line_change(delta).old]]  # type: ignore[union-attr]
        told[delta] = lines[0].decode().strip()
        if users in told[delta]:
            asked = asked | IntervalSet.of([delta])
    return {told[delta] for delta in dependences.closed(asked, found.all) - asked}


def test_a_use_needs_a_definition_that_the_old_version_does_not_have(tmp_path: Path) -> None:
    old = {"a.c": "int old;\n\nint main(void)\n{\n  return 0;\n}\n", "b.c": "int b;\n", "d.c": "int known;\n"}
    new = {
        "a.c": "int old;\n\nint main(void)\n{\n  return area(known);\n}\n",
        "b.c": "int b;\n\nint area(int n)\n{\n  return 2 * n;\n}\n",
        "d.c": "int known, other;\n",
    }
    assert needed_by(tmp_path, old, new, "area(known)") == {"int area(int n)", "{", "return 2 * n;", "}"}


def test_a_new_source_needs_to_be_listed_and_a_listed_one_to_be_there(tmp_path: Path) -> None:
    old = {"Makefile": "all: a.c\n\tcc a.c\n", "a.c": "int a;\n", "z": "1\n"}
    new = {
        "Makefile": "all: a.c new.c\n\tcc a.c new.c\n",
        "a.c": "int a;\nint c = fresh;\n",
        "new.c": "int fresh;\n",
        "z": "2\n",
    }
    assert needed_by(tmp_path / "use", old, new, "= fresh") == {"new.c", "all: a.c new.c", "cc a.c new.c"}
    assert needed_by(tmp_path / "list", old, new, "cc a.c") == {"new.c", "all: a.c new.c"}


def test_what_loses_its_last_definition_loses_its_uses(tmp_path: Path) -> None:
    old = {"a.py": "def gone():\n    return 1\n", "b.py": "import a\n\nprint(a.gone())\n", "c.py": "x = 1\n"}
    new = {"a.py": "def other():\n    return 1\n", "b.py": "import a\n\nprint(1)\n", "c.py": "x = 2\n"}
    assert needed_by(tmp_path, old, new, "def other") == {"print(1)"}


def test_names_in_an_import_of_several_lines_are_imported(tmp_path: Path) -> None:
    """Elements of a list look the same; in Python, neither defines a name, as the constants of an enumeration do."""
    old = {"a.py": "x = 1\n", "b.py": "names = []\n", "c.c": "enum e {\n  one\n};\n"}
    new = {
        "a.py": "from shapes import (\n    area,\n    size as width,\n)\nx = 1\n",
        "b.py": "names = [\n    area,\n]\n",
        "c.c": "enum e {\n  one,\n  other,\n};\n",
    }
    found = difference(tmp_path, old, new)
    names = Names(found)

    def files(deltas: IntervalSet) -> set[str]:
        return {found.files[found.file_of(delta)].path for delta in deltas}

    assert [files(names.importing(name)) for name in ("area", "width")] == [{"a.py"}, {"a.py"}]
    assert not names.defining("area")
    assert files(names.defining("other")) == {"c.c"}


def test_annotations_need_that_they_are_not_evaluated(tmp_path: Path) -> None:
    old = {"a.py": "x = 1\n\n\ndef f(a):\n    return a\n", "b.py": "y = 1\n"}
    new = {
        "a.py": "from __future__ import annotations\nx = 1\n\n\ndef f(a: Later):\n    return a\n",
        "b.py": "y: int = 1\n",
    }
    future = "from __future__ import annotations"
    assert needed_by(tmp_path / "comes", old, new, "Later") == {future}
    assert needed_by(tmp_path / "other", old, new, "y: int") == set()
    assert needed_by(tmp_path / "goes", new, old, future) == {"def f(a):"}


# -- changes that are never executed -----------------------------------------------------------------------------------

CODE_OLD = """\
import os

TABLE = {
    1: 2,
}


def used(a):
    if a > 100:
        return "large"
    return a


def unused(a):
    return a


@staticmethod
def changed_head(a):
    return [a]
"""
CODE_NEW = (
    CODE_OLD.replace("1: 2", "1: 3")
    .replace("large", "huge")
    .replace("    return a\n\n\n@", "    return -a\n\n\n@")
    .replace("head(a):\n    return [a]", "head(*b):\n    return [*b]")
)


def left_out(
    folder: Path, old: dict[str, str], new: dict[str, str], program: str, *, built: bool = False, beside: bool = False
) -> set[str]:
    found = difference(folder, old, new)
    with Workshop(found, python("-c", program), Oracle()) as workshop:
        ending, in_new = workshop.observed(found.all)
        before, in_old = workshop.observed(EMPTY)
        assert (ending.verdict, before.verdict) == (Outcome.PASS, Outcome.PASS)
    deltas = never_executed(found, in_old, in_new, built=built, beside=beside)
    told = set()
    for delta in deltas:
        file, change = found.files[found.file_of(delta)], found.line_change(delta)
        told.add(file.path if change is None else file.after[change.new].decode().strip())
    return told


def test_what_is_never_executed_is_found(tmp_path: Path) -> None:
    old = {"code.py": CODE_OLD, "data/a": "1\n", "data/b": "1\n", "docs/c": "1\n", "extra.py": "x = 1\n"}
    new = {"code.py": CODE_NEW, "data/a": "2\n", "data/b": "2\n", "docs/c": "2\n", "extra.py": "x = 2\n"}
    program = "import code; code.used(1); open('data/a').read()"
    # `data/b` lies beside a file that is read; the body of a function whose head changes stays with the head.
    expected = {'return "huge"', "return -a", "x = 2", "2"}
    assert left_out(tmp_path / "plain", old, new, program) == expected
    assert left_out(tmp_path / "built", old, new, program, built=True) == expected
    assert left_out(tmp_path / "beside", old, new, program, beside=True) == expected


def test_an_observed_program_keeps_its_own_site_customization(tmp_path: Path) -> None:
    made = difference(tmp_path, {"p.py": "x = 1\n"}, {"p.py": "x = 2\n"})
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins\nbuiltins.customized = True\n")
    target = python("-c", "import p, threading; assert customized; threading.Thread(target=exec, args=('1',)).start()")
    target.environment["PYTHONPATH"] = str(site)  # type: ignore[index]
    with Workshop(made, target, Oracle()) as workshop:
        ending, executed = workshop.observed(made.all)
    assert ending.verdict is Outcome.PASS
    assert executed.lines["p.py"] == frozenset({0})


def test_what_a_probe_writes_is_read() -> None:
    assert executed_in(b"1 a.py\n0 data\n3 a.py\nbroken\n") == Executed(
        {"a.py": frozenset({0, 2})}, frozenset({"data"})
    )


MANY = {f"many{number}.py": "def f():\n    return 1\n" for number in range(60)}


def test_changes_that_are_never_executed_are_left_out_first(tmp_path: Path) -> None:
    old = {"p.py": "def f():\n    return 1\n", **MANY}
    new = {name: text.replace("1", "2") for name, text in old.items()}
    command = python("-c", "import p; assert p.f() == 1")
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), command)
    assert (found.left_out.count, found.difference.all.count) == (60, 61)
    assert found.guilty.count == 1
    without = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), command, coverage=False)
    assert without.left_out == EMPTY
    assert without.guilty == found.guilty


def test_nothing_is_left_out_that_the_failure_needs(tmp_path: Path) -> None:
    """The program looks at the size of files that it never opens."""
    old = {"p.py": "import os\nassert os.path.getsize('data/x') < 3\n", "data/x": "1\n", "q.py": "x = 1\n", **MANY}
    new = {
        **{name: text.replace("return 1", "return 2") for name, text in old.items()},
        "data/x": "22\n",
        "q.py": "x = 2\n",
    }
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), python("p.py"))
    assert found.left_out == EMPTY
    assert [found.difference.files[found.difference.file_of(delta)].path for delta in found.guilty] == ["data/x"]


# -- copies ------------------------------------------------------------------------------------------------------------


def test_a_copy_is_not_built_again_for_the_same_mixture(tmp_path: Path) -> None:
    from replay_dd.changes.workshop import Target

    made = difference(tmp_path, {"a": "1\n"}, {"a": "2\n"})
    log = tmp_path / "builds"
    with Workshop(made, Target(("true",), build=f"cat a >> {log}"), Oracle()) as workshop:
        for one in (EMPTY, EMPTY, made.all, made.all, EMPTY):
            assert workshop.run(one).verdict is Outcome.PASS
        assert log.read_text() == "1\n2\n"
        workshop.trial(made.all, clean=True)
    assert log.read_text() == "1\n2\n2\n", "evidence is built anew"


def test_evidence_is_built_from_nothing_else_than_the_mixture(tmp_path: Path) -> None:
    """A build that does not notice that a header has changed."""
    from replay_dd.changes.workshop import Target

    made = difference(tmp_path, {"a.h": "1\n"}, {"a.h": "2\n"})
    with Workshop(made, Target(("cat", "built"), build="test -e built || cp a.h built"), Oracle()) as workshop:
        workshop.run(EMPTY)
        assert workshop.trial(made.all).ending.message == workshop.trial(made.all, clean=True).ending.message == "N"
        assert (workshop._free[-1].root / "built").read_text() == "2\n"


def test_what_python_compiled_is_never_taken_for_another_version(tmp_path: Path) -> None:
    """Both versions are as long as each other, and change places within a second."""
    made = difference(tmp_path, {"p.py": "x = 1\n", "q.py": "y = 1\n"}, {"p.py": "x = 2\n", "q.py": "y = 2\n"})
    with Workshop(made, python("-c", "import p, q; raise SystemExit(p.x * 10 + q.y)"), Oracle()) as workshop:
        for _ in range(3):
            for deltas, status in ((EMPTY, 11), (IntervalSet.of([0]), 21), (IntervalSet.of([1]), 12), (made.all, 22)):
                assert workshop.run(deltas).words == f"exit status {status}"
