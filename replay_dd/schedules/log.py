"""The log file: JSON Lines, versioned, with a checksum.

The first line names the format and its version; it never changes its shape. The last line tells how the run ended and
carries a checksum of all lines before, so that a log that was cut off or edited is told from a whole one. Files are
written under another name first and renamed, so a log is there whole or not at all.

The lines are the classes of :mod:`replay_dd.schedules.model` as :mod:`replay_dd.json_codec` writes them, with all their
fields. Whatever the file, reading it ends with a log that keeps to their schema, or with a :class:`LogError`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.errors.user import LogCutOffError, LogEditedError, LogEmptyError, OutputError
from replay_dd.files import PRIVATE, write_whole
from replay_dd.json_codec import from_plain, reader, to_plain
from replay_dd.json_text import parse_object
from replay_dd.logfile import LARGEST_LOG_BYTES, check_header, read_regular
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.model import Ending, Log, Place, Program, Settings, Switch, Trigger, Wake
from replay_dd.schedules.shapes import Arrival, Count, Digest
from replay_dd.schema import Misfit
from replay_dd.trust.known_logs import digest_of, remember

FORMAT = "replay-dd schedule log"
VERSION = 1


@dataclass(frozen=True)
class _Recording:
    """The line that tells how the log came about."""

    strategy: str
    verified: bool | None
    failure: str = ""


class _WakeLine(NamedTuple):
    """The sleep or time-out that a switch ends, with the number of its place."""

    time_out: bool
    at: Count | None
    early_ns: Count


@dataclass(slots=True)
class _SwitchLine:
    """A switch, with the number of its place."""

    switch: Trigger
    forced: bool
    by_default: bool
    at: Count | None
    global_time: Count
    digest: Digest
    visit: Count = 0
    ended: bool | None = None  # the first logs did not tell
    wake: _WakeLine | None = None
    collects: bool = False


def write_log(log: Log, path: Path) -> None:
    """Write a log, whole or not at all; its places get their anchors.

    Raises:
        OutputError: the file cannot be written, or would be larger than what is read.
    """
    data = log_as_bytes(with_anchors(log))
    if len(data) > LARGEST_LOG_BYTES:
        raise OutputError(
            f"The log {path} would have {len(data):,} bytes; replay-dd reads up to {LARGEST_LOG_BYTES:,}.",
            "Record a shorter run, or count fewer yield points with `--granularity`.",
        )
    write_whole(path, data, mode=PRIVATE)
    remember(digest_of(data))


def log_as_bytes(log: Log) -> bytes:
    """All that a file with this log holds; its places stay as they are."""
    data = _encoded("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(log)))
    ending = to_plain(log.ending, whole=True)
    last = {"end": ending, "checksum": _checksum(data, ending)}
    return data + _encoded(json.dumps(last, ensure_ascii=False) + "\n")


def read_log(path: Path) -> Log:
    """Read a log.

    Raises:
        LogError: one of its kinds, for a file that is not a whole log of a version that is known here.
    """
    return parse_log(read_regular(path), path)


def parse_log(data: bytes, path: Path) -> Log:
    """The log that these bytes are.

    Args:
        data: all that is in the file.
        path: the file, for errors.

    Raises:
        LogError: as for :func:`read_log`.
    """
    if not data.strip():
        raise LogEmptyError(f"The log {path} is empty.")
    first, _, _ = data.partition(b"\n")
    check_header(first, path, FORMAT, VERSION)
    cut_off = LogCutOffError(f"The log {path} is cut off: its last line is missing.")
    if not data.endswith(b"\n"):
        raise cut_off
    end = data.rfind(b"\n", 0, -1) + 1
    last = data[end:-1]
    try:
        tail = parse_object(last)
        checksum, ending = tail["checksum"], tail["end"]
        whole = _checksum(memoryview(data)[:end], ending) == checksum
    except KeyError:
        raise cut_off from None
    except (ValueError, RecursionError) as error:
        if not last.startswith(b'{"end": '):
            raise cut_off from None
        raise LogEditedError(f"The last line of the log {path} cannot be understood: {error}.") from error
    if not whole:
        raise LogEditedError(f"The log {path} was changed after it was written: its checksum does not fit.")
    lines = data[len(first) + 1 : end - 1].split(b"\n") if end > len(first) + 1 else []
    return _log_from(lines, ending, path)


def _encoded(text: str) -> bytes:
    """As UTF-8; arguments and names of files that are no text come and go as surrogates."""
    return text.encode("utf-8", "surrogatepass")


def _checksum(body: bytes | memoryview, ending: object) -> str:
    digest = hashlib.sha256(body)
    digest.update(json.dumps(ending, sort_keys=True).encode())
    return digest.hexdigest()


# -- to and from JSON ------------------------------------------------------------------------------------------------


def _lines(log: Log) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": VERSION}
    yield {"program": to_plain(log.program, whole=True)}
    yield {"settings": to_plain(log.settings, whole=True)}
    yield {"recording": to_plain(_Recording(log.strategy, log.verified, log.failure), whole=True)}
    numbers: dict[Place, int] = {}
    for switch in log.switches:
        place, wake = switch.place, switch.wake
        for one in (place, None if wake is None else wake.place):
            if one is not None and one not in numbers:
                numbers[one] = len(numbers)
                yield {"place": to_plain(one, whole=True)}
        line = _SwitchLine(
            *(switch.trigger, switch.forced, switch.by_default, None if place is None else numbers[place]),
            *(switch.global_time, switch.digest, switch.visit, switch.ended),
        )
        if wake is not None:
            line.wake = _WakeLine(wake.time_out, None if wake.place is None else numbers[wake.place], wake.early_ns)
        line.collects = switch.collects
        told = to_plain(line, whole=True)
        if not switch.collects:  # as in logs from before there were such
            del told["collects"]
        yield told
    for arrival in log.arrivals:
        yield {"arrival": list(arrival)}


def _log_from(lines: list[bytes], ending: object, path: Path) -> Log:
    """The log that these lines are, the first one left out.

    Raises:
        LogEditedError: they are none.
    """
    number = 2
    places: list[Place] = []
    switches: list[Switch] = []
    arrivals: list[tuple[Any, ...]] = []
    read_place, read_switch, read_arrival = (reader(kind) for kind in (Place, _SwitchLine, Arrival))
    try:
        heads = []
        for name, kind in (("program", Program), ("settings", Settings), ("recording", _Recording)):
            line = parse_object(lines[number - 2]) if number - 2 < len(lines) else {}
            if name not in line:
                raise Misfit("is missing").inside(name)
            heads.append(from_plain(kind, line[name], name))
            number += 1
        for number, text in enumerate(lines[3:], 5):  # noqa: B007  it names the line in the error
            line = parse_object(text)
            if "switch" in line:
                switches.append(_switch_from(read_switch(line), places))
            elif "place" in line:
                places.append(read_place(line["place"]))
            elif "arrival" in line:
                arrivals.append(read_arrival(line["arrival"]))
            else:
                raise ValueError("it is none of `place`, `switch` and `arrival`")
        program, settings, recording = heads
        number = len(lines) + 2
        end = from_plain(Ending, ending, "end")
    except ValueError as error:
        raise LogEditedError(
            f"Line {number} of the log {path} does not have the form that version {VERSION} has: {error}."
        ) from error
    return Log(
        *(program, settings, recording.strategy, tuple(switches), end, recording.verified, tuple(arrivals)),
        failure=recording.failure,
    )


def _switch_from(line: _SwitchLine, places: list[Place]) -> Switch:
    place = _place_numbered(line.at, places)
    ended = place is None if line.ended is None else line.ended
    wake = None
    if line.wake is not None:
        wake = Wake(line.wake.time_out, _place_numbered(line.wake.at, places), line.wake.early_ns)
    return Switch(
        *(*line.switch, line.forced, line.by_default, place),
        *(line.global_time, line.digest, line.visit, ended, wake, line.collects),
    )


def _place_numbered(at: int | None, places: list[Place]) -> Place | None:
    if at is not None and at >= len(places):
        raise Misfit(f"must be the number of a place before it, of which there are {len(places):,}, not {at:,}").inside(
            "at"
        )
    return None if at is None else places[at]
