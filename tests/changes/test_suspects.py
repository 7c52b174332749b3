"""Which functions and classes are undone first in a new version that shares little with the old one."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.clues import NO_CLUES, Clues
from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import Call, Divergence
from replay_dd.changes.levels import groups, symbol_of
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.suspects import blocks_in, likeliest, suspects
from replay_dd.changes.workshop import Workshop
from replay_dd.circumstance import Found
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Ending
from replay_dd.outcome import Outcome
from tests.changes.versions import difference

OLD = """\
def render(x):
    return 1


class Missing:
    kind = 1

    def walk(self):
        return 1


def other():
    def inner():
        return 1

    return inner


def stop():
    return 1
"""
NEW = (
    OLD.replace("1", "2")
    .replace("    return 2", "    render.limit = 2", 1)
    .replace("return inner", "return render.limit")
)
ENDING = Ending(Outcome.FAIL, "wrong", "wrong")


def call(name: str, *calls: Call, raised: bool = False) -> Call:
    return Call("m.py", name, 1, (), "None", (), raised, [*calls])


OLD_CALLS = [call("render", call("Missing.walk"))]
NEW_CALLS = [call("render", call("other.<locals>.inner"), raised=True)]


def names(found: Difference, parts: list[IntervalSet]) -> list[str]:
    return [symbol_of(found, part.first) for part in parts]


def test_what_fails_comes_before_the_stack_and_what_differs_after_it(tmp_path: Path) -> None:
    found = difference(tmp_path, {"m.py": OLD}, {"m.py": NEW})
    parts = groups(found, found.all, "function")
    diverged = [Divergence(call("stop"), call("stop")), Divergence(OLD_CALLS[0], NEW_CALLS[0], fails=True)]
    clues = Clues((), (("elsewhere.py", 1), ("m.py", NEW.splitlines().index("    return render.limit"))))
    assert names(found, suspects(found, parts, diverged, clues)) == [
        "render",
        "Missing.walk",
        "other.inner",
        "other",
        "stop",
        "Missing",
    ]
    assert suspects(found, parts, [], NO_CLUES) == []


def test_of_what_diverges_what_was_changed_is_told_and_of_that_what_fails(tmp_path: Path) -> None:
    found = difference(tmp_path, {"m.py": OLD}, {"m.py": OLD.replace("kind = 1", "kind = 2").replace("x", "y")})
    test, render = (Divergence(call(name), call(name), fails=True) for name in ("test_render", "render"))
    early, late = (Divergence(call(name), call(name)) for name in ("render", "Missing"))
    assert likeliest(found, [test, render, late]) == [render]
    assert likeliest(found, [test, late, early]) == [late, early]
    assert likeliest(found, [test]) == [test]


class Unrunnable:
    """A workshop of which nothing but the calls of both versions is known."""

    breaks = staticmethod(lambda configuration: ())
    program_words: frozenset[str] = frozenset()

    def calls(self, configuration: IntervalSet) -> list[Call]:
        return NEW_CALLS if configuration else OLD_CALLS


def test_after_a_level_that_tells_nothing_suspects_are_undone_once_and_as_they_are(tmp_path: Path) -> None:
    files = {f"m{number}.py": f"def f{number}():\n    return 1\n" for number in range(12)}
    new = {name: text.replace("1", "2") for name, text in files.items()}
    found = difference(tmp_path, {"m.py": OLD, **files}, {"m.py": NEW, **new})
    workshop = cast("Workshop", Unrunnable())
    level = CodeChanges(
        *(found, workshop, ("file", "function", "hunk")), wanted=ENDING, resolution=Resolution(found), clues=NO_CLUES
    )
    undone = []
    for _ in range(2):
        algorithm = level.own_algorithm(found.all)
        asked = []
        while (configuration := algorithm.ask()) is not None:
            asked.append(found.all - configuration)
            algorithm.tell(Outcome.UNRESOLVED)
        undone.append(asked)
        assert level.gave_up
        below = level.refine(Found(EMPTY, ENDING), Found(found.all, ENDING))
        assert below is not None
        level = below
    first, then = undone
    expected = [part for part in groups(found, found.all, "function") if symbol_of(found, part.first) == "render"]
    assert then[:1] == expected
    assert expected[0] not in first
    assert level.own_algorithm(found.all).ask() != found.all - expected[0]


@pytest.mark.parametrize("deepest, undivided", [("statement", False), ("line", True)])
def test_one_statement_is_the_answer_even_if_its_lines_tell_nothing(
    deepest: str, undivided: bool, tmp_path: Path
) -> None:
    text = "".join(f"x{number} = 1\n" for number in range(40))
    found = difference(tmp_path, {"m.py": text}, {"m.py": text.replace("1\n", "2\n")})
    workshop = cast("Workshop", Unrunnable())
    level = CodeChanges(found, workshop, ("line",), deepest=deepest, wanted=ENDING, clues=NO_CLUES)
    algorithm = level.own_algorithm(found.all)
    while algorithm.ask() is not None:
        algorithm.tell(Outcome.UNRESOLVED)
    assert level.gave_up
    assert level.undivided is undivided


OLD_BLOCKS = "def f(a):\n    return g(a)\n"
NEW_BLOCKS = """\
def f(a):
    if a:
        if h(a):
            a = 1
    return g(a, 1)
"""


def test_blocks_are_statements_with_all_that_they_head(tmp_path: Path) -> None:
    found = difference(tmp_path, {"m.py": OLD_BLOCKS, "n.py": "a = 1\n"}, {"m.py": NEW_BLOCKS, "n.py": "a = 2\n"})
    (whole,) = groups(found, found.deltas_at(["m.py"]), "function")
    told = []
    for block in blocks_in(found, [whole]):
        changes = (found.line_change(delta) for delta in block)
        told.append([change.new for change in changes if change is not None])
    assert told == [[1, 2, 3], [4]]
