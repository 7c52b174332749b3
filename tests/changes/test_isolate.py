"""Guilty changes between versions of real programs, run in working copies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.isolate import ChangesIsolation, isolate_changes
from replay_dd.changes.levels import DEFAULT_LEVELS
from replay_dd.changes.shown import Passage
from replay_dd.changes.workshop import Target, Trial, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import NoDifferenceError
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from replay_dd.report.changes import _passages_as_text, _places_as_text, changes_as_text
from tests.changes.versions import NEW, OLD, TEST, Files, difference, patch, python, tree

pytestmark = pytest.mark.once


def isolate(folder: Path, old: Files, new: Files, target: Target, **options: object) -> ChangesIsolation:
    return isolate_changes(tree(folder / "old", old), tree(folder / "new", new), target, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_guilty_statement_is_found_among_harmless_ones(jobs: int, tmp_path: Path) -> None:
    others = {f"other{number}.py": f"x = {number}\n" for number in range(6)}
    changed = {name: f"{text}y = 1\n" for name, text in others.items()}
    found = isolate(
        tmp_path, {"prices.py": OLD, **others}, {"prices.py": NEW, **changed}, python("-c", TEST), jobs=jobs
    )
    assert patch(found) == ["-    if not prices:", "-        return 0"]
    assert found.isolation.verified
    assert "ZeroDivisionError" in found.isolation.failure.words
    assert found.isolation.tests < 20


def test_versions_that_want_the_same_port_are_run_one_at_a_time(tmp_path: Path, unused_port: int) -> None:
    listens = f"""
import socket, time
with socket.socket() as listener:
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", {unused_port}))
    listener.listen()
    time.sleep(0.5)
assert price == 4, price
"""
    files = {"app.py": f"price = 4\nname = 1\n{listens}"}
    found = isolate(tmp_path, files, {"app.py": f"price = 6\nname = 2\n{listens}"}, python("app.py"), jobs=3)
    assert patch(found) == ["-price = 4", "+price = 6"]
    assert found.isolation.baseline.disturbed
    assert any("one at a time" in line for line in changes_as_text(found, (), None, {}))


def test_versions_are_never_written_to(tmp_path: Path) -> None:
    spoils = "import os; open('prices.py', 'a').write('spoilt'); open('new.py', 'w'); os.remove('kept')"
    old, new = {"prices.py": OLD, "kept": ""}, {"prices.py": NEW, "kept": ""}
    found = isolate(tmp_path, old, new, python("-c", f"try:\n    {TEST}\nfinally:\n    {spoils}"))
    assert patch(found) == ["-    if not prices:", "-        return 0"]
    assert (tmp_path / "old" / "prices.py").read_text() == OLD
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["kept", "prices.py"]


def test_the_version_and_its_src_come_first_on_the_path(tmp_path: Path) -> None:
    old = {"src/inner.py": "x = 1\n", "outer.py": "import inner\ny = inner.x\n"}
    (tmp_path / "test.py").write_text("import outer\nassert outer.y == 1, outer.y\n")
    found = isolate(tmp_path, old, {**old, "src/inner.py": "x = 2\n"}, python(str(tmp_path / "test.py")))
    assert patch(found) == ["-x = 1", "+x = 2"]


def test_a_guilty_change_that_needs_another_one(tmp_path: Path) -> None:
    """The call fails only where the function takes no second argument any more."""
    old = {"a.py": "def f(x, y=0):\n    return x\n", "b.py": "import a\nprint(a.f(1))\n"}
    new = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\nprint(a.f(1, 2))\n"}
    found = isolate(tmp_path, old, new, python("b.py"))
    assert patch(found) == ["-def f(x, y=0):", "+def f(x):", "-print(a.f(1))", "+print(a.f(1, 2))"]


def test_another_failure_is_not_the_one_sought(tmp_path: Path) -> None:
    """Of the two changes, one alone makes the program fail in another way."""
    old = "def f():\n    return [1]\n\n\ndef g():\n    return f()\n\n\nassert g() == [1], g()\n"
    new = old.replace("return [1]", "return None").replace("return f()", "return [2] + (f() or [])")
    found = isolate(tmp_path, {"p.py": old}, {"p.py": new}, python("p.py"))
    assert "AssertionError: [2]" in found.isolation.failure.words
    assert "+    return [2] + (f() or [])" in patch(found)


def test_a_mixture_that_does_not_parse_is_not_run(tmp_path: Path) -> None:
    old = {"p.py": "try:\n    x = 1\nfinally:\n    pass\n"}
    new = {"p.py": "if True:\n    x = 1\nelse:\n    pass\n1 / 0\n"}
    made = difference(tmp_path, old, new)
    ran = tmp_path / "ran"
    with Workshop(made, python("-c", f"open({str(ran)!r}, 'a').write('x')"), Oracle()) as workshop:
        from replay_dd.dd import IntervalSet

        ending = workshop.run(IntervalSet.of([0]))
        assert (ending.verdict, ran.exists()) == (Outcome.UNRESOLVED, False)
        assert "p.py:" in ending.words
        assert "syntax error" in ending.words
        workshop.run(made.all)
        assert ran.exists()


@pytest.mark.parametrize("macro", ["", "FASTCALL_ATTR int FASTCALL_MSVC f(void)\n{\n  return 0;\n}\n"])
def test_a_mixture_of_c_that_does_not_parse_is_not_built(macro: str, tmp_path: Path) -> None:
    old = macro + "int g(int n)\n{\n  if (n) {\n    return 1;\n  }\n  return 0;\n}\n"
    made = difference(
        tmp_path, {"p.c": old}, {"p.c": old.replace("  if (n) {\n", "").replace("    return 1;\n  }\n", "")}
    )
    ran = tmp_path / "ran"
    with Workshop(made, Target(("true",), build=f"touch {ran}"), Oracle()) as workshop:
        from replay_dd.dd import IntervalSet

        assert workshop.run(IntervalSet.of([0])).signature == "does not parse"
        assert not ran.exists()
        assert workshop.run(made.all).verdict is Outcome.PASS


MAKEFILE = "prog: a.c b.c\n\tcc -o prog a.c b.c\n"


@pytest.mark.once
def test_a_program_that_is_built(tmp_path: Path) -> None:
    old = {
        "Makefile": MAKEFILE,
        "a.c": "int size(void);\nint main(void)\n{\n  return size() == 4 ? 0 : 1;\n}\n",
        "b.c": "int size(void)\n{\n  return 4;\n}\n",
    }
    new = {
        "Makefile": MAKEFILE,
        "a.c": "int size(int);\nint main(void)\n{\n  return size(1) == 4 ? 0 : 1;\n}\n",
        "b.c": "int size(int n)\n{\n  return 4 + n;\n}\n",
    }
    target = Target(("./prog",), build="make -s", time_limit_s=60, build_limit_s=60)
    found = isolate(tmp_path, old, new, target)
    assert "+  return 4 + n;" in patch(found)
    assert any("the build fails" in why.words for why, _ in found.isolation.unresolved)


def test_what_is_built_stays_for_the_next_build_and_nothing_else(tmp_path: Path) -> None:
    made = difference(tmp_path, {"a": "1\n", "gone": ""}, {"a": "2\n", "sub/b": "3\n"})
    count = "ls -A | tr '\\n' ' '; cat a; test -e built || touch built"
    with Workshop(made, Target(("sh", "-c", count), build="true"), Oracle(script=True)) as built:
        assert [built.run(one).words for one in (EMPTY, made.all)]
        copy = built._free[-1]
        assert sorted(path.name for path in copy.root.iterdir()) == ["a", "built", "sub"]
    with Workshop(made, Target(("sh", "-c", count)), Oracle(script=True)) as plain:
        plain.run(EMPTY)
        copy = plain._free[-1]
        assert (copy.root / "built").exists()
        plain.run(made.all)
        plain.run(EMPTY)
        assert sorted(path.name for path in copy.root.iterdir()) == ["a", "built", "gone"], "of its last run only"


@pytest.mark.parametrize(
    "old, new, expected",
    [
        (NEW, NEW + "\n", DoesNotPassError),
        (OLD, OLD + "\n", DoesNotFailError),
        (OLD, OLD, NoDifferenceError),
    ],
)
def test_ends_that_do_not_pass_and_fail(old: str, new: str, expected: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(expected) as told:
        isolate(tmp_path, {"prices.py": old}, {"prices.py": new}, python("-c", TEST))
    if expected is NoDifferenceError:
        assert "passes first" in told.value.hint, "no run has passed or failed yet"


def test_a_limit_gives_the_best_so_far(tmp_path: Path) -> None:
    found = isolate(tmp_path, {"prices.py": OLD}, {"prices.py": NEW}, python("-c", TEST), max_tests=1)
    assert (found.isolation.stopped_by, found.needed) == ("tests", None)


def test_what_the_change_needs_is_proved_by_a_clean_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of one change finds what the whole new version has left behind."""
    trial = Workshop.trial

    def sloppy(workshop: Workshop, configuration: IntervalSet, *, clean: bool = False) -> Trial:
        if not clean and configuration.count == 1:
            configuration = IntervalSet.range(0, 2)
        return trial(workshop, configuration, clean=clean)

    monkeypatch.setattr(Workshop, "trial", sloppy)
    fails_with_both = Target(("sh", "-c", "! grep -q new a || ! grep -q new b"), time_limit_s=60)
    found = isolate(tmp_path, {"a": "old\n", "b": "old\n"}, {"a": "new\n", "b": "new\n"}, fails_with_both)
    assert found.guilty.count == 1
    assert found.needed is None, "it takes both"
    assert any(line.startswith("needs        not known") for line in changes_as_text(found, (), None, {}))


# -- histories -------------------------------------------------------------------------------------------------------


@pytest.mark.once
def test_what_the_change_needs_is_not_run_line_by_line(tmp_path: Path) -> None:
    """One run each shows that hundreds of lines are not needed, if they come in few groups."""
    old = {"prices.py": OLD, "large.py": "def size():\n    return 0\n"}
    lines = "".join(f"    total += {number}\n" for number in range(300))
    new = {
        "prices.py": NEW.replace("return total(prices) / len(prices)", "return limits.LEAST / len(prices)").replace(
            "def total", "import limits\n\n\ndef total"
        ),
        "limits.py": "LEAST = 1\n",
        "large.py": f"def size():\n    total = 0\n{lines}    return total\n",
    }
    test = "import large, prices; large.size(); prices.show(prices.average([]))"
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), python("-c", test))
    assert found.needed is not None
    assert found.needed.count < 10
    assert found.needed_by is None or found.needed_by.runs < 40
    others = f"{found.difference.all.count - found.guilty.count} other changes, which the patch has, too"
    stopped = replace(found.isolation, stopped_by="tests")
    for needed_by, told in ((stopped, f"needs        at most {others}"), (found.isolation, f"needs        {others}")):
        long = replace(found, needed=found.difference.all, needed_by=needed_by)
        assert told in [*changes_as_text(long, (), None, {})]


def test_what_the_change_needs_is_as_small_where_the_guilty_one_is_found_early(tmp_path: Path) -> None:
    """A file is guilty whose change is a single line; of the file that it needs, one line of many."""
    old: Files = {"one.py": "a = 0\nb = 0\nc = 0\nd = 0\n", "two.py": "x = 0\n"}
    new: Files = {"one.py": "a = 1\nb = 1\nc = 1\nd = 1\n", "two.py": "x = 1\n"}
    test = "import one, two; one.c or not two.x or {}['c']; assert not (one.c and two.x)"
    found = isolate(tmp_path, old, new, python("-c", test))
    assert sorted(patch(found)) == ["+c = 1", "+x = 1", "-c = 0", "-x = 0"]


def test_of_files_that_are_added_the_guilty_ones_are_marked() -> None:
    shown = [Passage("a.py is added", (), is_guilty=True), Passage("b.py is added", ())]
    assert list(_passages_as_text(shown, marks=True)) == ["> a.py is added", "", "  b.py is added"]
    assert list(_passages_as_text(shown, marks=False)) == ["  a.py is added", "", "  b.py is added"]


def test_changes_that_are_too_many_to_be_read_are_told_by_their_places(tmp_path: Path) -> None:
    functions = [f"def f{number}():\n    return {{}}\n" for number in range(6)]
    old = {"a.py": "x = 1\n", "b.py": "".join(functions).format(*range(6)), "c.py": "1\n"}
    new = {"a.py": "x = 2\n", "b.py": "".join(functions).format(*range(6, 12)), "d.py": "2\n"}
    found = difference(tmp_path, old, new)
    assert list(_places_as_text(found, found.all)) == [
        "  a.py: 1 changed line",
        "  b.py: 6 changed lines in f0, f1, f2, f3 and 2 more",
        "  c.py is removed",
        "  d.py is added",
    ]


def test_an_old_version_that_cannot_be_built_is_none_that_passes(tmp_path: Path) -> None:
    target = Target(("sh", "-c", "! grep bad m.c"), "grep -q new m.c || { echo 'm.c:1: error: no'; exit 1; }")
    with pytest.raises(DoesNotPassError, match=r"The old version does not pass: the build fails: m\.c:1: error: no\."):
        isolate(tmp_path, {"m.c": "old\n"}, {"m.c": "new\nbad\n"}, target)


def test_a_new_version_that_cannot_be_built(tmp_path: Path) -> None:
    target = Target(("true",), "grep -q old m.c || { echo 'No rule.'; exit 2; }")
    with pytest.raises(DoesNotFailError, match=r"the build fails: No rule\.$") as raised:
        isolate(tmp_path, {"m.c": "old\n"}, {"m.c": "new\n"}, target)
    assert "`--build`" in str(raised.value.hint)


def test_versions_that_are_exchanged(tmp_path: Path) -> None:
    with pytest.raises(
        DoesNotFailError, match=r"The new version does not fail: exit status 0\. The old one does\."
    ) as told:
        isolate(tmp_path, {"m": "bad\n"}, {"m": "good\n"}, Target(("grep", "good", "m")))
    assert "Swap" in told.value.hint


def test_a_new_version_that_fails_only_later(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("")
    rare = (
        f"import pathlib, prices\ncount = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "if prices.x == 2:\n    count.write_text(count.read_text() + '.')\n"
        "    assert len(count.read_text()) % 5 not in (0, 4), 'rare'\n"
    )
    found = isolate(tmp_path, {"prices.py": "x = 1\ny = 1\n"}, {"prices.py": "x = 2\ny = 2\n"}, python("-c", rare))
    assert patch(found) == ["-x = 1", "+x = 2"]


def test_a_new_version_that_does_not_fail_says_how_often_it_was_run(tmp_path: Path) -> None:
    with pytest.raises(DoesNotFailError, match=r"The new version does not fail in 12 runs: exit status 0\."):
        isolate(tmp_path, {"prices.py": "x = 1\n"}, {"prices.py": "x = 2\n"}, python("-c", "import prices"))


def test_of_a_long_table_the_guilty_line_is_found(tmp_path: Path) -> None:
    """A table that is indented in another way is one statement."""
    old = [f'    "name{number}": {number},\n' for number in range(20)]
    new = [f"    {line}" for line in old]
    new[13] = '        "name13": 31,\n'
    found = isolate(
        tmp_path,
        {"app.py": f"TABLE = {{\n{''.join(old)}}}\nassert sum(TABLE.values()) == 190\n"},
        {"app.py": f"TABLE = dict(**{{\n{''.join(new)}}})\nassert sum(TABLE.values()) == 190\n"},
        python("app.py"),
    )
    assert patch(found) == ['-    "name13": 13,', '+        "name13": 31,']
    assert found.isolation.tests < 15


def test_a_long_answer_tells_which_calls_first_end_in_another_way(tmp_path: Path) -> None:
    table = [f"x{number} = 0\n" for number in range(25)]
    code = "def half(value):\n    return value / x0\n\n\ndef show(value):\n    return half(value)\n"
    old = {"a.py": "".join(table).replace("0\n", "1\n") + code, "b.py": "import a\na.show(2)\n"}
    found = isolate(tmp_path, old, {**old, "a.py": "".join(table) + code}, python("b.py"), levels=("file",))
    assert [(one.new.name, one.old.raised, one.new.raised) for one in found.diverged] == [("half", False, True)]
    assert any(line.startswith("diverges     half (a.py:26) raises") for line in changes_as_text(found, (), None, {}))


def test_what_a_guilty_change_needs_is_looked_for_near_it(tmp_path: Path) -> None:
    """Of forty other files that the failing mixture has, none is asked about."""
    old = "def tell(parts):\n    total = sum(parts)\n    return total\n"
    new = "def tell(parts):\n    total = sum(parts)\n    halved = total / 2\n    return halved\n"
    others = {f"other{number}.py": f"def f():\n    return {number}\n" for number in range(40)}
    changed = {name: text.replace("return ", "return 1 + ") for name, text in others.items()}
    found = difference(tmp_path, {"a.py": old, **others}, {"a.py": new, **changed})
    test = "import a\nfor number in range(40):\n    __import__(f'other{number}').f()\nassert a.tell([2, 4]) == 6"
    (file,) = (one for one in found.files if one.path == "a.py")
    first = found.deltas_of(found.files.index(file)).first
    (guilty,) = (first + local for local, line in enumerate(file.lines) if line.old < line.old_stop)
    deltas = IntervalSet.of([guilty])
    with Workshop(found, python("-c", test), Oracle()) as workshop:
        circumstance = CodeChanges(found, workshop, DEFAULT_LEVELS, resolution=None)
        circumstance.settle([circumstance.run(found.all)])
        alone = circumstance.needed_with(deltas, found.all)
        near = alone.failing_near_base()
    assert deltas < near
    assert {found.files[found.file_of(one)].path for one in near} == {"a.py"}


def test_needs_that_were_not_searched_to_the_end_are_told_as_at_most(tmp_path: Path) -> None:
    old = {"a.py": "def f(x, y=0):\n    return x\n", "b.py": "import a\nprint(a.f(1))\n"}
    new = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\nprint(a.f(1, 2))\n"}
    found = isolate(tmp_path, old, new, python("b.py"))
    assert found.needed_by is not None
    (told,) = (line for line in changes_as_text(found, (), None, {}) if line.startswith("needs"))
    assert told.split()[1:4] == ["all", "of", "it;"]
    limited = replace(found, needed_by=replace(found.needed_by, stopped_by="tests"))
    (told,) = (line for line in changes_as_text(limited, (), None, {}) if line.startswith("needs"))
    assert told.split()[1:6] == ["at", "most", "all", "of", "it;"]
