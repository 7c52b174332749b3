"""Fonts and themes that a session depends on."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.cli.session_playback import say_what_differs, say_where
from replay_dd.events import surroundings as noted
from replay_dd.events.model import GuiProgram
from replay_dd.events.surroundings import differences, surroundings


def test_the_same_machine_has_the_same_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = surroundings()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert differences(here, surroundings()) == []
    if shutil.which("fc-list") is not None:
        assert int(here["fonts"].split()[0]) > 0


def test_fonts_that_are_installed_later_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(noted, "_X_FONTS", tmp_path)
    (tmp_path / "misc").mkdir()
    (tmp_path / "misc" / "fonts.dir").write_text("1\na.pcf -misc-a\n")
    program = GuiProgram(("true",), "/", surroundings=surroundings())
    say_what_differs(program)
    assert capsys.readouterr().err == ""
    (tmp_path / "misc" / "fonts.dir").write_text("2\na.pcf -misc-a\nb.pcf -misc-b\n")
    say_what_differs(program)
    assert "the installed X fonts are not those of the recording (1 then, 2 now)" in capsys.readouterr().err
    say_what_differs(GuiProgram(("true",), "/"))
    assert capsys.readouterr().err == ""


def test_differences_in_words() -> None:
    assert differences({"fonts": "3 aa"}, {"fonts": "3 ab"}) == [
        "the installed fonts are not those of the recording (others of the same number)"
    ]
    assert differences({"fonts": "3 aa"}, {}) == ["the installed fonts are not those of the recording (3 then, 0 now)"]
    assert differences({}, {"fonts": "3 aa"}) == []


def test_a_folder_that_takes_long_to_copy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "packages").write_bytes(bytes(10))
    program = GuiProgram(("program",), str(tmp_path))
    say_where(program)
    assert "warning" not in capsys.readouterr().err
    monkeypatch.setattr("replay_dd.experiment.working_copy._SLOW_BYTES", 9)
    say_where(program)
    assert "most of it in packages" in capsys.readouterr().err
    say_where(replace(program, here=True))
    assert "warning" not in capsys.readouterr().err
