"""Where two versions first behave differently."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from replay_dd.changes import calls_probe
from replay_dd.changes.calls_probe import CALLS, CUT, told
from replay_dd.changes.divergences import Call, Divergence, alike, calls_in, divergences, only_in_one
from replay_dd.report.changes import _divergences_as_text


def call(name: str, *calls: Call, given: object = (), result: object = "None", raised: bool = False) -> Call:
    return Call("m.py", name, 1, given, result, given, raised, list(calls))


def test_the_innermost_call_that_raises_in_one_version_only_diverges() -> None:
    old = [call("run", call("render", call("Undefined.__iter__")), result="'x'")]
    new = [call("run", call("render", call("Undefined.fail", raised=True), raised=True), raised=True)]
    (found,) = divergences(old, new)
    assert (found.old, found.new) == (old[0].calls[0], new[0].calls[0])
    assert [[one.name for one in calls] for calls in only_in_one(found)] == [["Undefined.__iter__"], ["Undefined.fail"]]
    told_ = "\n".join(_divergences_as_text([found]))
    assert "render (m.py:1) raises" in told_
    assert "only the old version calls Undefined.__iter__ (m.py:1)" in told_


def test_the_last_call_with_another_result_comes_first_and_each_function_once() -> None:
    old = [call("early"), call("late", call("same"), given="1"), call("late", given="2")]
    new = [
        call("early", result="1"),
        call("late", call("same"), given="1", result="1"),
        call("late", given="2", result="2"),
    ]
    assert [(one.new.name, one.new.given) for one in divergences(old, new)] == [("late", "2"), ("early", ())]


def test_an_exception_that_the_program_handles_comes_with_other_values() -> None:
    old = [call("invoke", call("main", call("parse"), call("help")), call("close"))]
    leaves = call("main", call("parse", raised=True), call("help", result="1"), raised=True)
    new = [call("invoke", leaves, call("close", result="1"))]
    assert [(one.new.name, one.fails) for one in divergences(old, new)] == [
        ("close", False),
        ("help", False),
        ("parse", False),
    ]


def test_an_exception_that_nothing_handles_comes_first_whichever_version_raises_it() -> None:
    clean, broken = call("f"), call("f", raised=True)
    late = call("late", result="1")
    for old, new in ((clean, broken), (broken, clean)):
        found = divergences([old, call("late")], [new, late])
        assert [(one.new.name, one.fails) for one in found] == [("f", True), ("late", False)]
    broken.cut_off = True  # the program went on for so long that its calls were no longer noted
    assert [one.new.name for one in divergences([clean, call("late")], [broken, late])] == ["late", "f"]


def test_calls_may_be_as_deep_as_an_endless_recursion_leaves_them() -> None:
    old, new = call("visit", given="last"), call("visit", given="last", raised=True)
    for number in range(5000):
        old = call("visit", old, given=str(number))
        new = call("visit", new, given=str(number), raised=True)
    (found,) = divergences([old], [new])
    assert found.new.given == "last"


def test_calls_with_other_arguments_and_bodies_of_modules_tell_nothing() -> None:
    assert not divergences([call("f", given="1")], [call("f", given="2", result="1")])
    assert not divergences([call("")], [call("", result="1")])
    assert not divergences([call("f.<locals>.<lambda>")], [call("f.<locals>.<lambda>", result="1")])
    assert not divergences([call("Box.__hash__")], [call("Box.__hash__", result="1")])


def test_objects_are_compared_by_what_both_versions_have_and_is_known() -> None:
    assert alike(("Point", {"x": "1", "name": "'a'"}), ("Point", {"x": "1", "kind": "'b'"}))
    assert alike(("list", 2, CUT), ("list", 2, "1"))
    assert not alike(("Point", {"x": "1"}), ("Point", {"x": "2"}))
    assert not alike(("list", 1, "1"), ("list", 2, "1", "1"))


def test_where_no_call_has_equal_arguments_their_classes_suffice() -> None:
    def put(kind: str, held: str, *, raised: bool = False) -> Call:
        return call("put", given={"box": (kind, {"held": held}), "count": "1"}, raised=raised)

    (found,) = divergences([put("Box", "1")], [put("Box", "2", raised=True)])
    assert found.new.raised
    assert not divergences([put("Box", "1")], [put("Bag", "2", raised=True)])


def test_values_are_told_without_running_the_program() -> None:
    class Hostile(dict):  # type: ignore[type-arg]
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(name)

        __repr__ = __iter__ = __len__ = __eq__ = __hash__ = __getattribute__  # type: ignore[assignment]

    hostile = Hostile()
    object.__setattr__(hostile, "kept", 1)
    assert told([hostile, "a", Hostile]) == ("list", 3, ("Hostile", {"kept": "1"}), "'a'", "Hostile")


def test_of_options_in_a_dictionary_more_are_told_than_of_items_in_a_list() -> None:
    _, count, *options = told(dict.fromkeys(range(99), 1))
    assert (count, options) == (99, [(str(number), "1") for number in range(24)])
    assert told([1] * 99) == ("list", 99, *["1"] * 8)


def test_the_probe_notes_calls_results_and_exceptions(tmp_path: Path) -> None:
    root, notes = tmp_path / "version", tmp_path / "notes"
    root.mkdir()
    notes.mkdir()
    (root / "m.py").write_text(
        "class Box: pass\n"
        "def put(box, value):\n    box.value = value\n    return [value]\n"
        "def fail():\n    raise KeyError(1)\n"
        "def run():\n    put(Box(), 2)\n    fail()\n"
    )
    program = (
        f"import sys\nsys.path[:0] = [{str(Path(calls_probe.__file__).parent)!r}, {str(root)!r}]\n"
        f"import calls_probe\ncalls_probe.start({str(notes)!r}, {str(root)!r})\n"
        "import m\ntry:\n    m.run()\nexcept KeyError:\n    pass\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    noted = (notes / CALLS).read_bytes()
    module, run = calls_in(noted + b"(1, 2, cut off")
    assert (module.name, run.path, run.name, run.line, run.raised) == ("", "m.py", "run", 7, True)
    put, fail = run.calls
    assert (put.given, put.result, put.raised) == ({"box": ("Box", {}), "value": "2"}, ("list", 1, "2"), False)
    assert put.left == {"box": ("Box", {"value": "2"}), "value": "2"}
    assert (fail.raised, fail.result) == (True, CUT)
    without_run = b"".join(line for line in noted.splitlines(keepends=True) if b"'run'" not in line)
    assert [(one.name, one.cut_off) for one in calls_in(without_run)] == [("", False), ("put", True), ("fail", True)]


def test_nothing_is_said_where_nothing_diverges() -> None:
    same = call("f")
    assert not divergences([same], [call("f")])
    assert not list(_divergences_as_text([]))
    assert only_in_one(Divergence(same, same)) == ([], [])
