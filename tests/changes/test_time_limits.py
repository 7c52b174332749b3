"""Mixtures that never end are killed sooner than the versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.changes import workshop as workshop_module
from replay_dd.changes.workshop import Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.ending import Oracle
from replay_dd.outcome import Outcome
from tests.changes.versions import difference, python

pytestmark = pytest.mark.once

LIMIT_S = 60.0
TEST = "import p, q\nwhile p.a != q.b:\n    pass\nassert p.a == 1"


def test_a_mixture_that_never_ends_is_killed_when_it_has_run_far_longer_than_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop_module, "_LIMIT_FACTOR", 2.0)
    monkeypatch.setattr(workshop_module, "_LEAST_LIMIT_S", 0.1)
    found = difference(tmp_path, {"p.py": "a = 1\n", "q.py": "b = 1\n"}, {"p.py": "a = 2\n", "q.py": "b = 2\n"})
    target = replace(python("-c", TEST), time_limit_s=LIMIT_S, limit_follows_ends=True)
    with Workshop(found, target, Oracle()) as workshop:
        passing, failing = workshop.run(EMPTY), workshop.run(found.all)
        assert (passing.verdict, failing.verdict) == (Outcome.PASS, Outcome.FAIL)
        between = workshop.run(IntervalSet.of([found.all.first]))
    assert "still running after" in between.words
    assert 2 * max(passing.seconds, failing.seconds) <= between.seconds < LIMIT_S


@pytest.mark.parametrize("known", [(), (EMPTY,)])
def test_the_limit_of_the_user_holds_until_both_versions_have_run(
    known: tuple[IntervalSet, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop_module, "_LEAST_LIMIT_S", 0.0)
    monkeypatch.setattr(workshop_module, "_LIMIT_FACTOR", 0.0)
    found = difference(tmp_path, {"p.py": "a = 1\n", "q.py": "b = 1\n"}, {"p.py": "a = 2\n", "q.py": "b = 1\n# b\n"})
    for follows in (True, False):
        target = replace(python("-c", "import p"), time_limit_s=LIMIT_S, limit_follows_ends=follows)
        with Workshop(found, target, Oracle()) as workshop:
            for end in known if follows else (EMPTY, found.all):
                assert workshop.run(end).verdict is Outcome.PASS
            assert workshop.run(IntervalSet.of([found.all.first])).verdict is Outcome.PASS
