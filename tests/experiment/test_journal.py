"""What a journal gives back, to whom, and what becomes of a damaged one."""

from __future__ import annotations

import contextlib
import dataclasses
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from replay_dd.errors.user import JournalError, LogVersionError, OutputError
from replay_dd.experiment.journal import Journal, SearchedFor, digests_of, kept_in, recalled, recalled_as
from replay_dd.experiment.process import LIVE

SEARCH = SearchedFor("input", "/work", {"FILE": ("in.txt",), "`--grep`": ("no",)}, {})


@dataclass(frozen=True)
class Shown:
    """What a run has shown."""

    words: str
    data: bytes = b""


@dataclass(frozen=True)
class Other:
    """What a run of another kind has shown."""

    words: str


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "search.journal"


def forbidden() -> Shown:
    raise AssertionError("this run is known")


def asked(what: object, make: Callable[[], Shown] = forbidden) -> Shown:
    return recalled(Shown, lambda: what, make)


def filled(path: Path, *runs: tuple[object, Shown]) -> None:
    with kept_in(path, SEARCH):
        for what, shown in runs:
            assert asked(what, lambda shown=shown: shown) == shown  # type: ignore[misc]  # it is called at once


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Journal]:
    with kept_in(path, SEARCH) as journal:
        yield journal


def test_without_a_journal_each_run_is_made_and_nobody_asks_what_it_is() -> None:
    def unasked() -> object:
        raise AssertionError("there is not the journal of a search")

    assert recalled(Shown, unasked, lambda: Shown("made")) == Shown("made")


def test_what_was_run_is_known_the_next_time(path: Path) -> None:
    filled(path, (b"one\xff", Shown("1", b"\x00\xff")), (("two", 2, SEARCH), Shown("\udcff\n")))
    with opened(path) as journal:
        assert asked(("two", 2, SEARCH)) == Shown("\udcff\n")
        assert asked(b"one\xff") == Shown("1", b"\x00\xff")
        assert asked("three", lambda: Shown("3")) == Shown("3")
        assert (journal.recalled, journal.added) == (2, 1)
    with opened(path):
        assert asked("three") == Shown("3")


def test_runs_of_the_same_come_back_in_their_order_and_then_are_made(path: Path) -> None:
    filled(path, ("same", Shown("1")), ("same", Shown("2")))
    with opened(path):
        assert [asked("same", lambda: Shown("3")).words for _ in range(3)] == ["1", "2", "3"]


def test_runs_of_another_kind_are_others(path: Path) -> None:
    filled(path, ("same", Shown("1")))
    with opened(path):
        assert recalled(Other, lambda: "same", lambda: Other("other")) == Other("other")


def test_a_run_without_a_form_of_its_own_is_kept_as_something_else(path: Path) -> None:
    for make in (lambda: {"a"}, lambda: {"not", "asked"}):
        with opened(path):
            made = recalled_as(Shown, lambda: 1, make, lambda run: Shown(*run), lambda kept: {kept.words})
            assert made == {"a"}


def test_a_run_that_fails_or_is_cut_short_is_not_kept(path: Path) -> None:
    def stopped() -> Shown:
        LIVE.kill_all()
        return Shown("killed by SIGKILL")

    with opened(path) as journal, LIVE.reopened_after():
        with pytest.raises(AssertionError):
            asked("fails")
        assert asked("stopped", stopped).words == "killed by SIGKILL"
        assert journal.added == 0
    with opened(path):
        assert asked("stopped", lambda: Shown("whole")).words == "whole"


@contextlib.contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can grow beyond this size, as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_leaves_no_half_of_a_line_to_the_next_run(path: Path) -> None:
    filled(path, ("one", Shown("1")))
    with opened(path):
        with room_for(path.stat().st_size + 20), pytest.raises(OutputError):
            asked("two", lambda: Shown("2"))
        asked("three", lambda: Shown("3"))
    with opened(path):
        assert [asked(name).words for name in ("one", "three")] == ["1", "3"]


def test_a_full_disk_is_told_when_a_journal_begins(path: Path) -> None:
    with room_for(10), pytest.raises(OutputError), opened(path):
        pass
    filled(path, ("one", Shown("1")))


def test_what_a_kill_has_cut_off_is_taken_away(path: Path) -> None:
    filled(path, ("one", Shown("1")), ("two", Shown("2")))
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with opened(path):
            assert asked("two", lambda: Shown("again")).words == "again"
        with opened(path):
            assert asked("two").words == "again"
        if size >= last:
            with opened(path):
                assert asked("one").words == "1"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tool": "0.0"}, "version 0.0 of replay-dd began it"),
        ({"command": "code"}, "`replay-dd code` began it"),
        ({"directory": "/elsewhere"}, "it was begun in /elsewhere"),
        ({"options": {"FILE": ("in.txt",)}}, "`--grep` was not given, and is no"),
        ({"options": {**SEARCH.options, "`--grep`": ("yes", "x")}}, "`--grep` was yes x, and is no"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_journal_of_another_search_is_refused_and_stays(change: dict[str, object], words: str, path: Path) -> None:
    with kept_in(path, dataclasses.replace(SEARCH, **change)):  # type: ignore[arg-type]
        asked("one", lambda: Shown("1"))
    before = path.read_bytes()
    with pytest.raises(JournalError, match="belongs to another search") as refused, opened(path):
        pass
    assert words in refused.value.message
    assert path.read_bytes() == before


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that the search names, as such: read.txt."""
    monkeypatch.chdir(tmp_path)
    file = Path("read.txt")
    file.write_text("at first")
    return file


def with_files(*names: str) -> SearchedFor:
    return dataclasses.replace(SEARCH, files=digests_of(names))


@pytest.mark.parametrize("becomes", ["another", None])
def test_a_file_that_was_edited_is_told(becomes: str | None, named: Path, path: Path) -> None:
    with kept_in(path, with_files("read.txt")):
        asked("one", lambda: Shown("1"))
    named.unlink()
    if becomes is not None:
        named.write_text(becomes)
    with pytest.raises(JournalError, match=r"search: read.txt has changed"), kept_in(path, with_files("read.txt")):
        pass


def test_files_that_the_program_writes_tell_nothing(named: Path, path: Path) -> None:
    names = ("read.txt", "rewritten.txt", "made.txt")
    Path("rewritten.txt").write_text("from a run by hand")
    with kept_in(path, with_files(*names)):
        Path("rewritten.txt").write_text("before the search")
        asked("one", lambda: Shown("1"))
        Path("made.txt").write_text("late")
    for _ in range(2):
        Path("rewritten.txt").write_text("again")
        with kept_in(path, with_files(*names)):
            assert asked("one").words == "1"
    named.write_text("edited")
    with pytest.raises(JournalError, match=r"read.txt has changed"), kept_in(path, with_files(*names)):
        pass


def test_a_journal_without_runs_belongs_to_nobody(named: Path, path: Path) -> None:
    with kept_in(path, with_files("read.txt")):
        pass
    named.write_text("edited")
    filled(path, ("one", Shown("1")))
    with opened(path):
        assert asked("one").words == "1"


def test_two_searches_at_once_are_refused(path: Path) -> None:
    with opened(path), pytest.raises(JournalError, match="Another search is writing"), opened(path):
        pass


@pytest.mark.parametrize(
    "data", [b"hello\n", b"hello", b'{"format": "replay-dd schedule log", "version": 1}\n', b"\x00\n"]
)
def test_another_file_is_refused_and_stays(data: bytes, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(JournalError, match="is not the journal of a search"), opened(path):
        pass
    assert path.read_bytes() == data


def test_a_journal_of_a_newer_version_is_refused(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"format": "replay-dd journal", "version": 2}\n')
    with pytest.raises(LogVersionError), opened(path):
        pass


@pytest.mark.parametrize("line", ["[]", '{"key": 1, "run": {}}', "{", '{"search": 1}'])
def test_a_damaged_journal_is_told_before_any_run(line: str, path: Path) -> None:
    filled(path, ("one", Shown("1")))
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(JournalError, match="is damaged"), opened(path):
        pass


def test_a_run_that_is_none_is_told(path: Path) -> None:
    filled(path, ("one", Shown("1")))
    path.write_text(path.read_text().replace('"words"', '"swords"'))
    with opened(path), pytest.raises(JournalError, match=r"is damaged: `run\.words` is missing"):
        asked("one")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError), opened(tmp_path / "file" / "journal"):
        pass
    with pytest.raises(OutputError), opened(tmp_path):
        pass
