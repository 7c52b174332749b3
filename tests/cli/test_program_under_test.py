"""What the command after the ``--`` is."""

from __future__ import annotations

import pytest

from replay_dd.cli.program_under_test import check_script
from replay_dd.errors.user import ProgramNotFoundError

pytestmark = pytest.mark.once


@pytest.mark.parametrize("interpreter", ["python", "python3", "python3.11", "python3.14t", "/usr/bin/python3.13t"])
def test_a_script_that_is_not_there(interpreter: str) -> None:
    with pytest.raises(ProgramNotFoundError, match=r"There is no script `gone\.py` for"):
        check_script((interpreter, "-X", "dev", "gone.py"))


@pytest.mark.parametrize(
    "command", [("python3.14t", "-m", "gone"), ("python3-config", "gone.py"), ("pytest", "gone.py")]
)
def test_no_script_is_named(command: tuple[str, ...]) -> None:
    check_script(command)
