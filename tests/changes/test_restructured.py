"""Versions whose files and functions are in new places: they are first run there as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.file_change import Kind
from replay_dd.changes.isolate import isolate_changes
from replay_dd.changes.levels import DEFAULT_LEVELS
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.workshop import Trial, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import Files, difference, python, tree

pytestmark = pytest.mark.once

PRICE = 'def price(count):\n    """The price."""\n    found = count * 2\n    return found\n'
OTHERS = "".join(f"\n\ndef other{number}():\n    return {number}\n" for number in range(9))
OLD: Files = {"shop.py": PRICE + OTHERS, "rates.py": "x = 1\n", "far.py": "y = 1\n"}
NEW: Files = {
    "shop/__init__.py": "from .parts import price\n",
    "shop/parts.py": f"from rates import factor\n\n\n{PRICE.replace('2', '2.5')}\n\ndef extra():\n    "
    "import far\n    return far.unrelated\n",
    "rates.py": "x = 1\nfactor = 3\n",
    "far.py": "y = 1\nunrelated = 4\n",
}
TEST = "import shop; assert shop.price(2) == 4"


def test_only_what_errors_miss_comes_to_files_in_their_new_places(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD, NEW)
    whole = IntervalSet.of([delta for delta in found.all if found.kind(delta) is not Kind.LINE])
    (factor,) = found.deltas_at(["rates.py"])
    (unrelated,) = found.deltas_at(["far.py"])
    with Workshop(found, python("-c", TEST), Oracle()) as workshop:
        resolution = Resolution(found, workshop.breaks)
        assert {factor, unrelated} <= {*resolution.completed(whole, found.all, ())}

        def outcome(trial: Trial) -> Outcome:
            return Outcome.UNRESOLVED if trial.missing else trial.ending.verdict

        made = resolution.run_as_it_is(whole, found.all, workshop.trial, outcome)
        resolved = resolution.resolved(whole)
    assert made.ending.verdict is Outcome.PASS
    assert resolved is not None
    assert resolved.deltas == whole | IntervalSet.of([factor])
    assert "factor" in resolved.names


def test_a_search_asks_first_about_files_in_their_new_places(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD, NEW)
    whole = IntervalSet.of([delta for delta in found.all if found.kind(delta) is not Kind.LINE])
    with Workshop(found, python("-c", TEST), Oracle()) as workshop:
        circumstance = CodeChanges(found, workshop, DEFAULT_LEVELS, resolution=Resolution(found, workshop.breaks))
        circumstance.settle([circumstance.run(found.all)])
        algorithm = circumstance.own_algorithm(found.all)
        assert algorithm.ask() == whole
        run = circumstance.run(whole)
        assert circumstance.judge(run).outcome is Outcome.PASS
        assert circumstance.realised(whole, run) == whole | found.deltas_at(["rates.py"])


def test_a_mixture_that_misses_what_nothing_defines_is_told_as_it_was(tmp_path: Path) -> None:
    found = difference(tmp_path, OLD, NEW)
    whole = IntervalSet.of([delta for delta in found.all if found.kind(delta) is not Kind.LINE])
    with Workshop(found, python("-c", "import shop, nowhere"), Oracle()) as workshop:
        resolution = Resolution(found, workshop.breaks)
        made = resolution.run_as_it_is(whole, found.all, workshop.trial, lambda trial: Outcome.UNRESOLVED)
        assert made.ending.words == workshop.trial(whole).ending.words
    assert resolution.resolved(whole) is None


def test_what_changed_in_packages_that_change_places_is_found(tmp_path: Path) -> None:
    lines = "".join(f"def other{number}():\n    return {number}\n\n\n" for number in range(9))
    code, shim = f"from .rates import RATE\n\n\n{lines}{PRICE}", "from {}.parts import price\n"
    rates = "RATE = 2\nNAMES = ['a', 'b']\nSIZES = [1, 2]\n"
    old: Files = {
        "shop/__init__.py": "",
        "shop/parts.py": code,
        "shop/rates.py": rates,
        "shops/__init__.py": "",
        "shops/parts.py": shim.format("shop"),
    }
    new: Files = {
        "shops/__init__.py": "",
        "shops/parts.py": code.replace("count * 2", "count * 2.5"),
        "shops/rates.py": rates,
        "shop/__init__.py": "",
        "shop/parts.py": shim.format("shops"),
    }
    target = python("-c", "from shop.parts import price; assert price(2) == 4")
    found = isolate_changes(tree(tmp_path / "old", old), tree(tmp_path / "new", new), target)
    (guilty,) = found.guilty
    assert found.difference.kind(guilty) is Kind.LINE
    assert found.passing != EMPTY
