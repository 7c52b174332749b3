"""Reducing the arguments of a call, from the first call to the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.call.reduce import reduce_call


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
