"""What the marker of a test asks for."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.pytest_plugin.asking import Asked, asked_by_marker, log_path


def marked_test(mark: pytest.MarkDecorator, **parts: Any) -> Any:
    """A test that has this marker."""
    return SimpleNamespace(get_closest_marker=lambda _: mark.mark, own_markers=[mark.mark], **parts)


@pytest.mark.once
@pytest.mark.parametrize(
    "mark, words",
    [
        (pytest.mark.replay_dd(runs=-1), "runs is a number of runs, or 0 to leave the test alone"),
        (pytest.mark.replay_dd(runs=True), "runs is a number of runs, or 0 to leave the test alone"),
        (pytest.mark.replay_dd(known=5), "known is the name of a log, or a list of such names"),
        (pytest.mark.replay_dd(known=[5]), "known is the name of a log, or a list of such names"),
        (pytest.mark.replay_dd(strategy="luck"), "strategy is one of "),
        (pytest.mark.replay_dd(granularity="bit"), "granularity is one of "),
        (pytest.mark.replay_dd(time="soon"), "`soon` is not a length of time such as 60s, 2m or 1h"),
        (pytest.mark.replay_dd("x"), "it takes runs, time, granularity, strategy, max_delay and known, by these names"),
        (pytest.mark.replay_dd(number=1), "it takes runs, time, granularity, strategy, max_delay and known, by these"),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused(mark: pytest.MarkDecorator, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        asked_by_marker(Asked(100, 60.0), marked_test(mark))


@pytest.mark.once
def test_logs_that_a_marker_names_may_be_of_another_test_if_it_serves_several() -> None:
    mark = pytest.mark.replay_dd(known="race.log")
    of_all = Asked(100, 60.0)
    assert asked_by_marker(of_all, marked_test(mark)) == Asked(100, 60.0, known=("race.log",))
    several = Asked(100, 60.0, known=("race.log",), for_several=True)
    assert asked_by_marker(of_all, marked_test(mark, callspec=None)) == several
    of_its_class = marked_test(mark)
    of_its_class.own_markers = []
    assert asked_by_marker(of_all, of_its_class) == several


@pytest.mark.once
def test_a_log_is_below_the_root_or_where_pytest_was_started(tmp_path: Path) -> None:
    root, start = tmp_path, tmp_path / "tests"
    start.mkdir()
    for folder in (start, root):
        (folder / "race.log").touch()
    (start / "other.log").touch()
    assert log_path("race.log", (root, start)) == root / "race.log"
    assert log_path("other.log", (root, start)) == start / "other.log"
    with pytest.raises(ValueError, match=r"there is no log at .*gone\.log"):
        log_path("gone.log", (root, start))
