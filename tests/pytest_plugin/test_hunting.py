"""What the hooks count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.pytest_plugin.hunting import _tests_here


@pytest.mark.once
@pytest.mark.parametrize(("given", "expected"), [({}, 7), ({"workercount": 2}, 4), ({"workercount": 9}, 1)])
def test_a_worker_of_xdist_expects_its_part_of_the_tests(given: dict[str, int], expected: int) -> None:
    config = SimpleNamespace(workerinput=given) if given else SimpleNamespace()
    session: Any = SimpleNamespace(config=config, items=range(7))
    assert _tests_here(session) == expected
