"""What the hunts of one program have learnt, as a file of JSON lines.

Rules of this module:

* Orders of accesses are kept by source anchors: the function, the text of the line, the column. So they survive edits
  elsewhere. How far the hunts came is kept by thread times, and holds for the very same program only.
* The last line says how many there are, so a file that was cut off is noticed.
* Whatever the file, reading it ends with what it says, or with a :class:`CorpusError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from replay_dd.errors.user import CorpusError, NotALogError
from replay_dd.json_text import parse_object
from replay_dd.logfile import check_header, read_regular
from replay_dd.schedules.hunting.likely_preemptions import Order
from replay_dd.schedules.hunting.progress import Progress, Triggers, Waiting
from replay_dd.schedules.model import Trigger

FORMAT = "replay-dd corpus"
VERSION = 1
FAILS, PASSES, LOST = "fails", "passes", "lost"
_MOST_WAITING = 2_000  # preemptions to be tried that are kept
_MOST_BYTES = 64 * 2**20


class PlaceAnchor(NamedTuple):
    """A place in the source, whatever its line number is."""

    file: str
    function: str
    text: str
    repeat: int
    column: int
    instruction: str


AnchoredOrder: TypeAlias = tuple[str, PlaceAnchor, str, PlaceAnchor]


class KnownFailure(NamedTuple):
    """A failure that a hunt found.

    Attributes:
        log: the name of its log.
        text: how it ended.
        found_in: the number of the hunt that found it.
        state: what the last hunt that tried it saw: it ``fails``, ``passes``, or was ``lost``: it could not be tried.
        since: the number of the hunt since which that is so.
    """

    log: str
    text: str
    found_in: int
    state: str = FAILS
    since: int = 0


@dataclass
class Memory:
    """What the hunts of one program have learnt.

    Attributes:
        about: which program that is, and how it is hunted; for people, and to find the file again.
        hunts: how many there were.
        runs: how many runs they made.
        same: tells whether a program is the very one that ``progress`` is about.
        progress: how far the hunts came.
        orders: the orders of conflicting accesses that were seen.
        current: those that were seen in that very program.
        keys: the keys that places had in that very program.
        failures: those that were found.
    """

    about: dict[str, Any]
    hunts: int = 0
    runs: int = 0
    same: str = ""
    progress: Progress = field(default_factory=Progress)
    orders: set[AnchoredOrder] = field(default_factory=set)
    current: set[AnchoredOrder] = field(default_factory=set)
    keys: dict[PlaceAnchor, int] = field(default_factory=dict)
    failures: list[KnownFailure] = field(default_factory=list)

    @property
    def orders_known(self) -> int:
        """How many orders were seen, with their opposites, some of which may be impossible."""
        return len(self.orders | {(*order[2:], *order[:2]) for order in self.orders})


def written(memory: Memory) -> bytes:
    """The file that keeps this."""
    lines = [json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in _lines(memory)]
    lines.append(json.dumps({"lines": len(lines)}))
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")


def _lines(memory: Memory) -> Iterator[dict[str, Any]]:
    progress = memory.progress
    yield {"format": FORMAT, "version": VERSION}
    yield {"about": memory.about}
    yield {"hunts": memory.hunts, "runs": memory.runs}
    for failure in memory.failures:
        yield {"failure": failure._asdict()}
    anchors = sorted({anchor for order in memory.orders for anchor in (order[1], order[3])})
    numbers = {anchor: number for number, anchor in enumerate(anchors)}
    for anchor in anchors:
        yield {"place": [*anchor, memory.keys.get(anchor, 0)]}
    for order in sorted(memory.orders):
        one, at, other, there = order
        yield {"order": [one, numbers[at], other, numbers[there], int(order in memory.current)]}
    sampled = progress.sampled or len(progress.waiting) > _MOST_WAITING
    counts = {
        "seed": progress.seed,
        "plans": progress.plans,
        "likely": progress.likely,
        "numbered": progress.numbered,
        "sampled": sampled,
    }
    yield {"same": memory.same, **counts}
    for triggers, novelty in progress.tried.items():
        yield {"tried": triggers, "for": novelty}
    for waiting in progress.waiting[:_MOST_WAITING]:
        yield {"waiting": waiting.triggers, "for": waiting.novelty, "cost": waiting[:3]}
    for seen in sorted(progress.by_chance):
        yield {"by_chance": seen}


def check_beginning(line: bytes, path: Path, hint: str | None = None) -> None:
    """Make sure that a file of a corpus begins as one.

    Args:
        line: its first line.
        path: of the file.
        hint: what to do where it does not; the usual one without it.

    Raises:
        CorpusError: it does not.
        LogVersionError: it is of a newer replay-dd.
    """
    try:
        check_header(line, path, FORMAT, VERSION)
    except NotALogError as error:
        raise CorpusError(
            f"The file {path} of the corpus is damaged: it does not begin as it was written.", hint
        ) from error


def read_memory(path: Path) -> Memory:
    """What a file keeps.

    Raises:
        CorpusError: it is damaged, or something else.
        LogVersionError: it is of a newer replay-dd.
        LogError: it cannot be read.
    """
    data = read_regular(path, _MOST_BYTES)
    lines = data.split(b"\n")
    check_beginning(lines[0], path)
    number = 1
    try:
        if lines.pop() or parse_object(lines.pop()) != {"lines": len(lines)}:
            raise ValueError("its end is missing")
        memory = Memory({})
        places: list[PlaceAnchor] = []
        for number, line in enumerate(lines[1:], 2):  # noqa: B007  it names the line in the error
            _take(parse_object(line), memory, places)
        memory.progress.orders = set(_with_keys(memory)) - memory.progress.by_chance
    except (ValueError, KeyError, IndexError, TypeError) as error:
        why = str(error) if isinstance(error, ValueError) else "it does not have the form that it was written in"
        raise CorpusError(f"The file {path} of the corpus is damaged at line {number}: {why}.") from error
    return memory


def _with_keys(memory: Memory) -> Iterator[Order]:
    """The orders that were seen in the very program, by the keys of their places."""
    for one, at, other, there in memory.current:
        if at in memory.keys and there in memory.keys:
            yield (one, memory.keys[at]), (other, memory.keys[there])


def _take(line: dict[str, Any], memory: Memory, places: list[PlaceAnchor]) -> None:
    progress = memory.progress
    if "waiting" in line:
        cost, position, number = map(_integer, line["cost"])
        waiting = Waiting(cost, position, number, _triggers(line["waiting"]), _hashable(line["for"]))
        progress.waiting.append(waiting)
    elif "tried" in line:
        progress.tried[_triggers(line["tried"])] = _hashable(line["for"])
    elif "by_chance" in line:
        progress.by_chance.add(_order(line["by_chance"]))
    elif "order" in line:
        one, at, other, there, is_current = line["order"]
        order = (_text(one), places[_natural(at)], _text(other), places[_natural(there)])
        memory.orders.add(order)
        if is_current:
            memory.current.add(order)
    elif "place" in line:
        file, function, text, repeat, column, instruction, key = line["place"]
        where = (_text(file), _text(function), _text(text))
        place = PlaceAnchor(*where, _natural(repeat), _integer(column), _text(instruction))
        places.append(place)
        if key:
            memory.keys[place] = _integer(key)
    elif "same" in line:
        memory.same = _text(line["same"])
        progress.seed, progress.plans, progress.likely, progress.numbered = (_natural(line[name]) for name in _COUNTS)
        progress.sampled = bool(line["sampled"])
    elif "failure" in line:
        told = line["failure"]
        failure = KnownFailure(
            *(_text(told["log"]), _text(told["text"]), _natural(told["found_in"])),
            *(_text(told["state"]), _natural(told["since"])),
        )
        if Path(failure.log).name != failure.log or not failure.log.endswith(".log"):
            raise ValueError("it is not the name of a log")  # never outside of the folder
        memory.failures.append(failure)
    elif "about" in line:
        memory.about = dict(line["about"])
    elif "hunts" in line:
        memory.hunts, memory.runs = _natural(line["hunts"]), _natural(line["runs"])


_COUNTS = ("seed", "plans", "likely", "numbered")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _natural(value: Any) -> int:
    if _integer(value) < 0:
        raise ValueError("a number is negative")
    return int(value)


def _triggers(value: Any) -> Triggers:
    return tuple(Trigger(_text(thread), _natural(time), _text(to)) for thread, time, to in value)


def _order(value: Any) -> Order:
    (one, at), (other, there) = value
    return (_text(one), _integer(at)), (_text(other), _integer(there))


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    if value is not None and not isinstance(value, str | int | bool):
        raise TypeError
    return value
