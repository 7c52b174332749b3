"""The sample program of AADEBUG 2000, section 6: the three columns of figure 6.

In Python, a variable must have a value before it is used; in Perl, one without a value counts as 0, and is printed as
nothing. That is the only difference: where it matters, `mul = 1` (event 2) is needed, too. With a `mul` that is like
one of Perl from the start, it is not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.trace.slice import LEVELS
from tests.trace.programs import SAMPLE, SAMPLE_INPUT, numbers, sliced

pytestmark = pytest.mark.once

TRACE = 37
WHOLE = [1, 3, 7, 8, 11, 13, 16, 18, 21, 23, 26, 28, 31, 36, 37]
SUM = [1, 3, 8, 11, 13, 16, 18, 21, 23, 26, 28, 31, 36]
MUL = [3, 7, 37]
THE_PAPERS_TESTS = 176

UNDEFINED = """\
import builtins


class Undefined(int):
    def __str__(self):
        return ""


builtins.mul = Undefined()
"""


@pytest.fixture
def perl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no value yet counts as 0, and is printed as nothing."""
    place = tmp_path / "perl"
    place.mkdir()
    (place / "sitecustomize.py").write_text(UNDEFINED)
    monkeypatch.setenv("PYTHONPATH", str(place))


@pytest.mark.usefixtures("perl")
@pytest.mark.parametrize("line, column", [(None, WHOLE), ("sum", SUM), ("mul", MUL)], ids=["whole", "sum", "mul"])
def test_the_columns_of_figure_6(line: str | None, column: list[int], tmp_path: Path) -> None:
    found = sliced(tmp_path, SAMPLE, SAMPLE_INPUT, output_line=line)
    assert len(found.trace) == TRACE
    assert numbers(found) == column
    assert found.isolation.tests < THE_PAPERS_TESTS
    assert found.isolation.verified


@pytest.mark.parametrize("line, column", [(None, [2, *WHOLE]), ("mul", [2, *MUL])])
def test_the_same_program_in_python_as_it_is(line: str | None, column: list[int], tmp_path: Path) -> None:
    found = sliced(tmp_path, SAMPLE, SAMPLE_INPUT, output_line=line, levels=LEVELS[1])
    assert numbers(found) == sorted(column)


def test_several_runs_at_the_same_time_give_the_same_answer(tmp_path: Path) -> None:
    one = sliced(tmp_path, SAMPLE, SAMPLE_INPUT, output_line="mul")
    three = sliced(tmp_path, SAMPLE, SAMPLE_INPUT, output_line="mul", jobs=3)
    assert (three.kept, three.isolation.tests) == (one.kept, one.isolation.tests)
