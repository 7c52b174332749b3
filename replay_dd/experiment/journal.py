"""The journal of a search: what its runs have shown, so that a search that was killed goes on where it was.

Rules of this module:

* While a journal is open (:func:`kept_in`), :func:`recalled` answers from it what it holds, and adds what it does not.
  Without one, runs are simply made.
* A run is known by what was run, in a form that is the same in every process, and never by its number: so the journal
  also holds where limits or the number of workers have changed. Several runs of the same are told apart by their order.
* Evidence is not for a journal: the proof of an answer is made anew, and shows if what is kept no longer holds.
* It begins by saying which search it belongs to; another search is refused. Each run is one line, written at once. What
  a kill has cut off at the end is taken away.
* A run that was ended because the search ends has shown nothing.
* A named file that the program itself writes tells nothing about the search. Such files are those that were not there
  when it began, and those that have changed when its first run is kept: the runs before the search have been made then.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from replay_dd import __version__
from replay_dd.errors.user import JournalError, NotALogError
from replay_dd.experiment.process import LIVE
from replay_dd.files import PRIVATE, digest_of_regular, unwritable
from replay_dd.json_codec import from_plain, to_plain
from replay_dd.json_text import parse_object
from replay_dd.logfile import LARGEST_LOG_BYTES, check_header, read_regular

T = TypeVar("T")
R = TypeVar("R")

FORMAT = "replay-dd journal"
VERSION = 1
_BEGINNING = 2  # lines before those of runs


@dataclass(frozen=True)
class SearchedFor:
    """Which search a journal belongs to: whatever decides what a run shows.

    Attributes:
        command: the command of replay-dd.
        directory: where it was started.
        options: its arguments and options, as text.
        files: the hashes of files that they name, by path, as :func:`digests_of` finds them.
        tool: the version of replay-dd.
    """

    command: str
    directory: str
    options: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str]
    tool: str = __version__


def digests_of(names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 hashes of those that are names of files, in their order."""
    found = {name: digest_of_regular(Path(name), LARGEST_LOG_BYTES) for name in sorted(set(names))}
    return {name: digest for name, digest in found.items() if digest is not None}


@dataclass
class Journal:
    """An open journal; thread-safe.

    Attributes:
        path: where it is.
        recalled: how many runs were taken from it.
        added: how many runs were added to it.
    """

    path: Path
    recalled: int = 0
    added: int = 0
    _descriptor: int = -1
    _begun: Mapping[str, str] | None = None  # the files when the search began, until the first run is added
    _known: dict[str, deque[Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, key: str, form: type[T]) -> T | None:
        """The next run of that kind, if there is one that has not been taken."""
        with self._lock:
            left = self._known.get(key)
            if not left:
                return None
            plain = left.popleft()
            self.recalled += 1
        try:
            return from_plain(form, plain, "run")  # type: ignore[no-any-return]  # a value of that form
        except ValueError as error:
            raise _damaged(self.path, str(error)) from None

    def add(self, key: str, run: object) -> None:
        """Keep a run.

        Raises:
            OutputError: the file cannot be written.
        """
        entry = {"key": key, "run": to_plain(run)}
        with self._lock:
            begun, self._begun = self._begun, None
            if begun is not None:
                now = digests_of(begun)
                self._write({"written": [name for name, digest in begun.items() if now.get(name) != digest]})
            self._write(entry)
            self.added += 1

    def _write(self, *entries: dict[str, object]) -> None:
        """Append one line for each entry, or nothing: what comes next must not follow half a line."""
        data = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
        begin = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError as error:
            os.ftruncate(self._descriptor, begin)
            raise unwritable(self.path, error.strerror or str(error)) from error


_open: list[Journal] = []


@contextlib.contextmanager
def kept_in(path: Path, search: SearchedFor) -> Iterator[Journal]:
    """Answer from a journal what it knows, and keep what it does not know, in the block.

    Args:
        path: the file; it need not exist.
        search: what the runs belong to.

    Raises:
        JournalError: it is no journal, that of another search, in use, or damaged.
        LogError: it cannot be read, or a newer replay-dd wrote it.
        OutputError: it cannot be written.
    """
    journal = Journal(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        journal._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from error
    try:
        _begin(journal, search)
        _open.append(journal)
        try:
            yield journal
        finally:
            _open.remove(journal)
    finally:
        os.close(journal._descriptor)


def is_journal(path: Path) -> bool:
    """Whether a file is the journal of this search, which belongs to no folder that is read."""
    return any(os.path.samestat(os.fstat(journal._descriptor), path.stat()) for journal in _open)


def recalled(form: type[T], what: Callable[[], object], make: Callable[[], T]) -> T:
    """A run: from the open journal if it is there, and made otherwise.

    Args:
        form: a dataclass with a form in JSON; see :mod:`replay_dd.json_codec`.
        what: says what is run, as values with a form in JSON; called only while a journal is open.
        make: makes the run.

    Raises:
        JournalError: what the journal holds is no such run.
        OutputError: the journal cannot be written.
    """
    return recalled_as(form, what, make, lambda run: run, lambda kept: kept)


def recalled_as(
    form: type[T],
    what: Callable[[], object],
    make: Callable[[], R],
    keep: Callable[[R], T],
    back: Callable[[T], R],
) -> R:
    """The same for runs that have no form in JSON themselves.

    Args:
        form: what is kept of a run.
        what: as for :func:`recalled`.
        make: makes the run.
        keep: what to keep of a run.
        back: the run again.
    """
    if not _open:
        return make()
    journal = _open[-1]
    key = _key(form, what())
    known = journal.take(key, form)
    if known is not None:
        return back(known)
    run = make()
    if not LIVE.stopped:
        journal.add(key, keep(run))
    return run


def _key(form: type[Any], what: object) -> str:
    name = f"{form.__module__}.{form.__qualname__}"
    text = json.dumps([name, to_plain(what)], default=_as_plain, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _as_plain(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else to_plain(value)


def _begin(journal: Journal, search: SearchedFor) -> None:
    """Read what is there, or write the first two lines.

    Raises:
        JournalError, LogError, OutputError: as for :func:`kept_in`.
    """
    path, descriptor = journal.path, journal._descriptor
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise JournalError(
            f"Another search is writing the journal {path}.", "Wait until it has ended, or name another file."
        ) from None
    beginning = {"format": FORMAT, "version": VERSION}, {"search": to_plain(search, whole=True)}
    head = "".join(json.dumps(entry) + "\n" for entry in beginning).encode()
    data = read_regular(path)
    whole = data[: data.rfind(b"\n") + 1]
    lines = whole.splitlines() or [data]
    if not head.startswith(data):  # there is more than what a kill may have left of the beginning
        try:
            check_header(lines[0], path, FORMAT, VERSION)
        except NotALogError:
            raise JournalError(f"The file {path} is not the journal of a search.", "Name another file.") from None
    if len(lines) <= _BEGINNING:  # no run, whatever the search
        os.ftruncate(descriptor, 0)
        journal._write(*beginning)
        journal._begun = search.files
        return
    try:
        entries = [parse_object(line) for line in lines[1:]]
        noted = [from_plain(tuple[str, ...], entry.get("written", []), "written") for entry in entries]
        written = {name for names in noted for name in names}
        _check_same(path, from_plain(SearchedFor, entries[0].get("search")), search, written)
        for entry in entries[1:]:
            if "written" not in entry:
                journal._known.setdefault(from_plain(str, entry.get("key"), "key"), deque()).append(entry.get("run"))
    except ValueError as error:
        raise _damaged(path, str(error)) from None
    os.ftruncate(descriptor, len(whole))


def _damaged(path: Path, why: str) -> JournalError:
    return JournalError(f"The journal {path} is damaged: {why}.", "Remove it; the search then begins anew.")


def _check_same(path: Path, there: SearchedFor, here: SearchedFor, written: Collection[str]) -> None:
    """Check that a journal belongs to this search, whatever became of the files that were written.

    Raises:
        JournalError: it does not.
    """
    if there.tool != here.tool:
        why = f"version {there.tool} of replay-dd began it"
    elif there.command != here.command:
        why = f"`replay-dd {there.command}` began it"
    elif there.directory != here.directory:
        why = f"it was begun in {there.directory}"
    elif there.options != here.options:
        name = _first_difference(there.options, here.options)
        was, now = (" ".join(options.get(name, ())) or "not given" for options in (there.options, here.options))
        why = f"{name} was {was}, and is {now}"
    elif changed := [name for name in there.files.keys() - written if here.files.get(name) != there.files[name]]:
        why = f"{min(changed)} has changed"
    else:
        return
    raise JournalError(
        f"The journal {path} belongs to another search: {why}.",
        "Name another file, or remove this one; the search then begins anew.",
    )


def _first_difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    return min(name for name in {*one, *other} if one.get(name) != other.get(name))
