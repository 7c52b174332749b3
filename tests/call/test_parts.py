"""Parts of arguments, the same failure, source, and files with arguments."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.call.arguments_file import JSON, PYTHON, parse_arguments, read_arguments
from replay_dd.call.blocks import Blocks, spans_of
from replay_dd.call.course import course
from replay_dd.call.failure import Ending, matcher, text_pattern
from replay_dd.call.simpler import Numbers
from replay_dd.call.source import source_of
from replay_dd.call.spaces import Level, Whole, empty, size_of
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.user import InputError

pytestmark = pytest.mark.once
NESTED = st.recursive(
    st.integers() | st.text(max_size=3) | st.binary(max_size=3) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.tuples(inner, inner)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=12,
)


def parts(value: Any) -> int:
    return size_of({"a": value}, ["a"])


@settings(max_examples=40)
@given(NESTED, st.data())
def test_what_is_left_of_a_value_is_a_part_of_it(value: Any, data: st.DataObject) -> None:
    arguments = {"a": value, "b": "other"}
    for depth in range(5):
        level = Level(arguments, depth, ["a"])
        assert level.build(level.all) == arguments
        kept = IntervalSet.of(data.draw(st.sets(st.sampled_from(list(level.all)))) if level.all else ())
        left = level.build(kept)
        assert left["b"] == "other"
        assert parts(left["a"]) <= parts(value)
        assert Level(left, depth, ["a"]).all.count == kept.count
        assert len({level.words(delta) for delta in level.all}) == level.all.count or "{" in level.words(0)


@given(NESTED)
def test_a_course_comes_to_the_smallest_value(value: Any) -> None:
    searches = course({"a": value, "n": 5}, ["a", "n"])
    space = next(searches, None)
    while space is not None:
        assert space.all
        left = space.build(EMPTY)
        try:
            space = searches.send(left)
        except StopIteration:
            assert left == Numbers({"a": empty(value), "n": 5}, ["a", "n"], 0).build(EMPTY)
            break


def test_a_course_goes_on_until_a_round_leaves_nothing_out() -> None:
    searches = course({"a": [["xy", "z"]]}, ["a"])
    asked = []
    space = next(searches)
    while True:
        asked.append((space.unit, space.all.count))
        # The inner list loses one element; everything else is needed.
        loses = space.unit == "part at depth 2" and space.all.count == 2
        try:
            space = searches.send(space.build(IntervalSet.range(0, 1) if loses else space.all))
        except StopIteration:
            break
    first = [("part", 1), ("part at depth 2", 2), ("part at depth 3", 2), ("container", 1)]
    again = [("part", 1), ("part at depth 2", 1), ("part at depth 3", 2), ("container", 1)]
    assert asked == [("argument", 1), *first, *again]


@pytest.mark.parametrize(
    ("text", "nesting", "pieces"),
    [
        ("a\nbc\n\nd", 0, ["a\n", "bc\n", "\n", "d"]),
        ("one line\n", 0, []),
        ("f([1], {2}) (3);\n x", 1, ["([1], {2}) ", "(3);\n "]),
        ("f([1], {2}) (3);", 2, ["[1], ", "{2}"]),
        ("(a]) [b]", 1, ["[b]"]),
        (b"\xff[\xfe],\n(b)", 1, [b"[\xfe],\n", b"(b)"]),
    ],
)
def test_blocks_of_texts(text: Any, nesting: int, pieces: list[Any]) -> None:
    assert [text[start:stop] for start, stop in spans_of(text, nesting)] == pieces
    level = Blocks({"a": [text], "b": 1}, 1, ["a", "b"], nesting)
    assert level.all.count == len(pieces)
    if pieces:
        last = level.build(IntervalSet.range(0, len(pieces) - 1))["a"][0]
        assert last == text.replace(pieces[-1], type(text)())
        assert level.words(0).startswith("a[0][")


def test_places_of_parts() -> None:
    level = Level({"a": [{"k": "xy"}], "b": {3}}, 2, ["a", "b"])
    assert [level.words(delta) for delta in level.all] == ["a[0]['k'][0]", "a[0]['k'][1]"]
    assert Level({"b": {3}}, 0, ["b"]).words(0) == "b{3}"
    assert Whole({"a": "x", "b": 1, "c": []}, ["a", "b", "c"]).all.count == 1


def test_subclasses_keep_what_makes_them() -> None:
    value = defaultdict(list, a=[1, 2])
    left = Level({"a": value}, 1, ["a"]).build(IntervalSet.range(1, 2))["a"]
    assert (left, left.default_factory) == ({"a": [2]}, list)
    assert value == {"a": [1, 2]}
    assert type(empty(Counter("ab"))) is Counter


def test_deep_data_end_somewhere() -> None:
    value: Any = "x"
    for _ in range(500):
        value = [value]
    assert 0 < parts(value) < 500


# -- the same failure ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "strings", "others", "different"),
    [
        ("bad value 5 at (3, 4)", [], ["bad value -17.5 at ()"], ["bad key 5 at (3, 4)"]),
        ("Unknown format: a.b c", ["a.b c"], ["Unknown format: x", "Unknown format:"], ["No format: a.b c"]),
        ("no < in a<b", ["a<b"], ["no < in <"], ["no in <"]),
        ("'key'", ["a key"], ["'other'", '"it\'s"'], ["key"]),
        ("'key'", ["other"], [], ["'other'"]),
        ("got b'a\\n' and None", ["xa\ny"], ["got b'' and 3"], ["got and None"]),
        ("a [1, {'x': 2}] b", ["ax"], ["a [] b", "a [[3]] b"], ["a 1 b"]),
        ("Expecting ',' delimiter", ["a, b"], [], ["Expecting ':' delimiter"]),
        ("at 0x7f12ab", [], ["at 0xdead"], ["at home"]),
        (
            "expected ']'\n  in line 1:\n  [1, 2\n      ^",
            ["[1, 2"],
            ["expected ']'\n  in line 7:\n  [[\n ^"],
            ["expected ')'\n  in line 7:\n  [[\n ^", "expected"],
        ),
        (
            "line 8:\n(object expected) at ^ in:\n\"...ex:s5 ex:p ex:o5 .\\nex:s6 ex:p '^b'] ; ex:q ex:o7 .'...\"",
            ["ex:s5 ex:p ex:o5 .\nex:s6 ex:p ] ; ex:q ex:o7 ."],
            ["line 1:\n(object expected) at ^ in:\n\"b'^b']'\""],
            ["line 1:\n(subject expected) at ^ in:\n\"b'^b']'\""],
        ),
        ("a cat", ["a"], ["x cat"], ["a dog"]),
        ("catalogue", ["cat"], [], ["dogalogue"]),
    ],
)
def test_texts_of_one_failure(text: str, strings: list[str], others: list[str], different: list[str]) -> None:
    pattern = text_pattern(text, strings)
    for other in [text, *others]:
        assert pattern.fullmatch(" ".join(other.split())), (pattern.pattern, other)
    for other in different:
        assert not pattern.fullmatch(" ".join(other.split())), (pattern.pattern, other)


def test_endings_in_words() -> None:
    told = {"end": "raised", "types": ["a.b.Error"], "text": "x\ny", "file": "/p/q.py", "line": 3, "column": 4}
    assert Ending.of({**told, "function": "f"}).words == "Error: x y (q.py:3 in f)"
    assert Ending.of({**told, "types": ["RecursionError"], "function": "f"}).place == ()
    assert Ending.of({"end": "killed", "signal": 11}).words == "killed by SIGSEGV"
    assert Ending.of({"end": "hung", "limit_s": 0.5}).words == "still running after 0.5 s"
    assert Ending.of({"end": "exited", "status": 3}).words == "ended its process with status 3"
    assert Ending.of({"end": "returned"}).words == "it returns"


@pytest.mark.parametrize("text", ["3", "None", "", "0"])
def test_the_number_of_an_exit_counts(text: str) -> None:
    def exits(status: str) -> Ending:
        told = {"end": "raised", "types": ["SystemExit", "BaseException"], "text": status}
        return Ending.of({**told, "file": "q.py", "line": 3, "column": 1, "function": "f"})

    same = matcher(None, exits(text), ["bad 7"])
    assert same(exits(text))
    assert not same(exits("4"))
    assert not same(exits("error in 3"))
    assert exits(text).signature != exits("4").signature
    assert matcher(None, exits("error: bad 7"), ["bad 7"])(exits("error: bad 8"))


# -- source ----------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(NESTED | st.floats(allow_nan=False) | st.lists(st.floats(allow_nan=False)))
def test_source_is_the_value_again(value: Any) -> None:
    assert eval(source_of(value)) == value


def test_source_of_what_has_no_repr_that_can_be_run() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError

    assert source_of([float("nan"), float("-inf")]) == "[float('nan'), float('-inf')]"
    assert source_of({2, 1}) == "{1, 2}"
    assert source_of(Broken()) == "<test_source_of_what_has_no_repr_that_can_be_run.<locals>.Broken object>"
    assert source_of((date, len)) == "(date, len)"


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "positional", "keywords", "form"),
    [
        ('["a", 1]', ["a", 1], {}, JSON),
        ('{"a": [1, null]}', (), {"a": [1, None]}, JSON),
        ('"text"', ("text",), {}, JSON),
        ('{"a b": 1}', ({"a b": 1},), {}, JSON),
        ("{}", ({},), {}, JSON),
        ("('a', b'b', {1, -2})", ("a", b"b", {1, -2}), {}, PYTHON),
        ("{'a': (1,)}", (), {"a": (1,)}, PYTHON),
        ("f('a', *, b=None)".replace("*, ", ""), ["a"], {"b": None}, PYTHON),
        ("a.b.f(x=1+2j, **{'y': set()})", [], {"x": 1 + 2j, "y": set()}, PYTHON),
        ("set()", (set(),), {}, PYTHON),
    ],
)
def test_forms_of_arguments(text: str, positional: Any, keywords: Any, form: str) -> None:
    found = parse_arguments(text, "args")
    assert (found.positional, found.keywords, found.form) == (positional, keywords, form)
    again = parse_arguments(found.written(positional, keywords, "f"), "args")
    assert (list(again.positional), again.keywords) == (list(positional), keywords)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "[1, 2", "are not JSON"),
        ("a.txt", "f(open('x'))", "`open('x')` in line 1 is or holds more than a literal"),
        ("a.txt", "[x for x in 'ab']", "more than a literal"),
        ("a.txt", "f(", "not Python literals"),
        ("a.txt", "  ", "is empty"),
        ("a.txt", "[" * 100_000, "nested too deeply"),
        ("a.txt", "{[]: 1}", "not Python literals"),
    ],
)
def test_files_that_hold_no_arguments(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        read_arguments(tmp_path / name)
    assert told in caught.value.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, told in (("bytes", "not text"), ("none", "No such file")):
        with pytest.raises(InputError, match=told):
            read_arguments(tmp_path / name)
