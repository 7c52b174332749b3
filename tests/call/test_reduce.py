"""Reducing the arguments of a call, from the first call to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from replay_dd.call.circumstance import CallArguments, Search
from replay_dd.call.course import course
from replay_dd.call.failure import Ending
from replay_dd.call.in_child import HUNG, RETURNED
from replay_dd.call.reduce import reduce_call
from replay_dd.experiment.driver import isolate_cause


@pytest.mark.once
def test_calls_that_want_the_same_folder_are_made_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locking.py").write_text(
        "import os, time\n"
        "def load(letters):\n"
        "    os.mkdir('lock')\n"
        "    time.sleep(0.2)\n"
        "    os.rmdir('lock')\n"
        "    assert 'b' not in letters, 'b'\n"
    )
    monkeypatch.chdir(tmp_path)
    found = reduce_call("locking:load", [["a", "b", "c"]], {}, jobs=3)
    assert [*found.positional, *found.keywords.values()] == [["b"]]
    assert "FileExistsError" in found.isolation.baseline.disturbed


def test_what_does_not_end_in_time_is_not_reduced_to_what_just_does_not() -> None:
    def left(text: str, *, fixed_limit: bool = True) -> str:
        def call(arguments: Mapping[str, Any], limit_s: float) -> tuple[Ending, float]:
            took = len(arguments["text"]) / 4
            return Ending(HUNG if took >= limit_s else RETURNED), min(took, limit_s)

        begin = partial(course, {"text": text}, ["text"])
        search = Search(call, str, ["text"], begin, "bisection", limit_s=1.0, fixed_limit=fixed_limit)
        found = isolate_cause(CallArguments(search, next(begin())))
        assert found.verified
        assert isinstance(found.circumstance, CallArguments)
        reduced: str = found.circumstance.arguments(found.failing.configuration)["text"]
        return reduced

    assert len(left("abcdefghijklmnopqrst")) == 6, "half as long again as the limit"
    assert len(left("abcde")) == 4, "the whole is not that slow itself"
    assert len(left("abcdefghijklmnopqrst", fixed_limit=False)) == 4, "the default limit is long enough"
