"""The log file: JSON Lines, versioned, with a checksum.

The first line names the format and its version; it never changes its shape. The last line tells how the run ended and
carries a checksum of all lines before, so that a log that was cut off or edited is told from a whole one. Files are
written under another name first and renamed, so a log is there whole or not at all.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from replay_dd.errors.user import LogCutOffError, LogEditedError, LogEmptyError, LogError
from replay_dd.files import PRIVATE, write_whole
from replay_dd.logfile import check_header
from replay_dd.schedules.anchors import with_anchors
from replay_dd.schedules.model import (
    Ending,
    Frame,
    Log,
    Place,
    Program,
    Settings,
    Switch,
    Trigger,
    UncaughtException,
    Waiter,
)

FORMAT = "replay-dd schedule log"
VERSION = 1


def write_log(log: Log, path: Path) -> None:
    """Write a log, whole or not at all; its places get their anchors.

    Raises:
        OutputError: the file cannot be written.
    """
    body = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _lines(with_anchors(log)))
    data = _encoded(body)
    ending = _ending_to_json(log.ending)
    last = {"end": ending, "checksum": _checksum(data, ending)}
    data += _encoded(json.dumps(last, ensure_ascii=False) + "\n")
    write_whole(path, data, mode=PRIVATE)


def read_log(path: Path) -> Log:
    """Read a log.

    Raises:
        LogError: one of its kinds, for a file that is not a whole log of a version that is known here.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"The log {path} cannot be read: {error.strerror}.") from error
    if not data.strip():
        raise LogEmptyError(f"The log {path} is empty.")
    first, _, _ = data.partition(b"\n")
    check_header(first, path, FORMAT, VERSION)
    body, newline, last = data.removesuffix(b"\n").rpartition(b"\n")
    cut_off = LogCutOffError(f"The log {path} is cut off: its last line is missing.")
    if not data.endswith(b"\n"):
        raise cut_off
    try:
        tail = json.loads(last)
        checksum, ending = tail["checksum"], tail["end"]
    except (ValueError, KeyError, TypeError):
        raise cut_off from None
    if _checksum(body + newline, ending) != checksum:
        raise LogEditedError(f"The log {path} was changed after it was written: its checksum does not fit.")
    try:
        return _log_from_json([json.loads(line) for line in body.splitlines()[1:]], ending)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise LogEditedError(f"The log {path} does not have the form that version {VERSION} has: {error!r}.") from error


def _encoded(text: str) -> bytes:
    """As UTF-8; arguments and names of files that are no text come and go as surrogates."""
    return text.encode("utf-8", "surrogatepass")


def _checksum(body: bytes, ending: object) -> str:
    return hashlib.sha256(body + json.dumps(ending, sort_keys=True).encode()).hexdigest()


# -- to and from JSON ------------------------------------------------------------------------------------------------


def _lines(log: Log) -> list[dict[str, Any]]:
    program = dataclasses.asdict(log.program)
    program["standard_input"] = base64.b64encode(log.program.standard_input).decode("ascii")
    lines: list[dict[str, Any]] = [
        {"format": FORMAT, "version": VERSION},
        {"program": program},
        {"settings": dataclasses.asdict(log.settings)},
        {"recording": {"strategy": log.strategy, "verified": log.verified}},
    ]
    numbers: dict[Place, int] = {}
    for switch in log.switches:
        if switch.place is not None and switch.place not in numbers:
            numbers[switch.place] = len(numbers)
            lines.append({"place": dataclasses.asdict(switch.place)})
        lines.append(
            {
                "switch": [switch.thread, switch.time, switch.to],
                "forced": switch.forced,
                "by_default": switch.by_default,
                "at": None if switch.place is None else numbers[switch.place],
                "global_time": switch.global_time,
                "digest": f"{switch.digest:016x}",
                "visit": switch.visit,
                "ended": switch.ended,
            }
        )
    lines += [{"arrival": list(record)} for record in log.arrivals]
    return lines


def _ending_to_json(ending: Ending) -> dict[str, Any]:
    return {**dataclasses.asdict(ending), "digest": f"{ending.digest:016x}"}


def _log_from_json(lines: list[dict[str, Any]], ending: dict[str, Any]) -> Log:
    program = lines[0]["program"]
    settings: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in lines[1]["settings"].items()
    }
    recording = lines[2]["recording"]
    places: list[Place] = []
    switches: list[Switch] = []
    arrivals: list[tuple[Any, ...]] = []
    for line in lines[3:]:
        if "arrival" in line:
            arrivals.append(_as_tuples(line["arrival"]))
            continue
        if "place" in line:
            places.append(Place(**line["place"]))
            continue
        thread, time, to = line["switch"]
        place = None if line["at"] is None else places[line["at"]]
        forced, by_default = line["forced"], line["by_default"]
        switches.append(
            Switch(
                *(thread, time, to, forced, by_default, place),
                *(line["global_time"], int(line["digest"], 16), line.get("visit", 0)),
                line.get("ended", place is None),  # logs without it cannot tell more
            )
        )
    return Log(
        Program(
            **{
                **program,
                "command": tuple(program["command"]),
                "standard_input": base64.b64decode(program["standard_input"]),
            }
        ),
        Settings(**settings),
        recording["strategy"],
        tuple(switches),
        _ending_from_json(ending),
        recording["verified"],
        tuple(arrivals),
    )


def _as_tuples(value: Any) -> Any:
    """Plain values with their lists as tuples, as they were before they were written."""
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value


def _ending_from_json(ending: dict[str, Any]) -> Ending:
    return Ending(
        **{
            **ending,
            "digest": int(ending["digest"], 16),
            "exceptions": tuple(
                UncaughtException(**{**item, "frames": _frames(item["frames"])}) for item in ending["exceptions"]
            ),
            "deadlock": tuple(Waiter(**{**item, "frames": _frames(item["frames"])}) for item in ending["deadlock"]),
            "skipped": tuple(Trigger(*item) for item in ending["skipped"]),
            "notes": tuple(ending["notes"]),
        }
    )


def _frames(frames: list[dict[str, Any]]) -> tuple[Frame, ...]:
    return tuple(Frame(**frame) for frame in frames)
