"""The pictures of docs/explanation/architecture.md: the rooms of the house, and one test's way through them.

Both are drawn from the tables below. A room is a folder or module, named as it is imported; a test checks that each one
exists and that none of the house is missing.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

from tools.documents import CHECKOUT

FOLDER = CHECKOUT / "docs" / "pictures"


@dataclass(frozen=True)
class Room:
    """A folder or module, and what it is for."""

    name: str
    words: str


@dataclass(frozen=True)
class Floor:
    """Rooms that stand side by side and do not know each other; all may use the floors below."""

    title: str
    rooms: tuple[Room, ...]


# Of each floor what it is for, by its first room; the floors are those of the import contract.
TITLES = {
    "cli": "faces: parse, call, print",
    "report": "one result, many renderings",
    "code": "made from other circumstances",
    "schedules": "circumstances: what the deltas are, how to run and judge them",
    "experiment": "the driver: baseline, search, refine, prove",
    "circumstance": "what the driver asks of a circumstance",
    "dd": "pure algorithms: no clock, files or threads",
    "logfile": "logs",
    "json_codec": "JSON and files",
    "system_texts": "names and arguments",
    "schema": "rules for values",
    "outcome": "ground floor",
}
ROOMS = {
    "cli": "the commands",
    "pytest_plugin": "hunts the tests of a suite",
    "order_variables": "environment variables of order tests",
    "testing": "runs a program in a given order of its threads, for tests",
    "report": "terminal, HTML, lanes, film strips, scripts",
    "schedules": "thread schedules",
    "events": "user actions in GUI sessions",
    "web": "steps of a web flow",
    "input": "parts of a program's input",
    "call": "arguments of a Python call",
    "changes": "changes of a program's code",
    "bisect": "commits, with the same schedules at each",
    "code": "edits of a program on which a tool fails",
    "grammars": "languages whose grammars can be installed",
    "durations": "10ms, 90s, 2h",
    "python_sources": "Python's own parser, without its warnings",
    "trace": "statements that a program executed",
    "experiment": "runs tests: processes, time limits, speculation, results, clean-up",
    "circumstance": "the protocol, in one module",
    "dd": "dd, ddmin, dd+, bisection; ask/tell",
    "logfile": "what all logs share: the first line, which names the format, and the checksum",
    "json_codec": "typed values as JSON",
    "json_text": "JSON from strangers",
    "files": "atomic writes",
    "trust": "what a log from a stranger may do",
    "schema": "what the values of JSON objects must be, beside their types",
    "system_texts": "texts that the system takes: names of files and variables, arguments",
    "outcome": "PASS, FAIL, UNRESOLVED",
    "errors": "by fault: the user's, the program's, the machine's",
}
RECORDERS = Room("recorders", "found as plug-ins: threads, x11, monkey")

# The rooms of thread schedules, on the floors of the import contract.
SCHEDULES = {
    "experiments": "which locks, orders and schedules prevent the failure",
    "story": "what the threads did to each other: kinds of races, deadlocks and hangs",
    "hunting": "which schedules to try, and what a hunt learns from each run",
    "isolating": "the circumstance: differences, the guilty switch, failing ranges, minimal schedules",
    "replaying": "records runs and replays them: exactly, observed, or after edits",
    "running": "programs under the runtime, in processes of their own or forked",
    "observed": "what a run told: instructions, accesses, flow of values",
    "log": "the log file",
    "anchors": "places of switches in edited sources",
    "failures": "what makes two failures the same",
    "vouched_sources": "sources that a log vouches for",
    "model": "what a recorded run is",
    "hang": "threads that wait for ever",
    "virtual": "locks and orders to try",
    "shapes": "rules for the values of a log",
    "runtime": "is loaded into the program: see below",
}

# Loaded into the program under test: the standard library only, and nothing of the house above. Its floors are those of
# the import contract.
INSIDE = {
    "start": "begins, before the program's first line",
    "take_over": "who takes over what of the interpreter and its library: tables",
    "parts": "makes the parts of the runtime, out of the request of a run",
    "process": "fork server, child processes, the end of a run",
    "strategies": "who runs next: replay, random walk, PCT, bounded, natural, ...",
    "stdlib": "stand-ins for locks, threads, signals, time, entropy; the deadlock report",
    "io": "stand-ins for sockets, TLS, pipes, file locks, SQLite",
    "backends": "how yield points are noticed: sys.monitoring or tracing",
    "baton": "one thread at a time: scheduler, threads, clock, stuck calls",
    "points": "which instructions are yield points, and where they stand in the source",
    "counting": "thread time and digest",
    "hangs": "who waits for whom in a program that hangs, and what led there",
    "accesses": "what the threads access, for the story of a race",
    "virtual": "locks and orders that experiments add",
    "observing": "looks at objects of the program without running its code",
    "accelerator": "counting and points once more, in C (optional)",
    "channel": "to the tool",
    "splitmix": "random numbers",
    "constants": "numbers that Python and C share",
    "loading": "the runtime itself, quickly",
    "warning_filters": "which filters of module `warnings` hold here",
    "compat": "all that is known of interpreter versions",
}


def contract(name: str) -> list[list[str]]:
    """The floors of an import contract, from above; what stands in brackets there need not exist."""
    configuration = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    found = next(one for one in configuration["tool"]["importlinter"]["contracts"] if one["id"] == name)
    (container,) = found.get("containers", [""])
    floors = [[room.strip() for room in layer.split("|") if "(" not in room] for layer in found["layers"]]
    return [[f"{container}.{room}".strip(".") for room in floor] for floor in floors]


def schedules() -> tuple[Floor, ...]:
    """The floors of thread schedules."""
    return _flat_floors("schedules-rooms", SCHEDULES)


def runtime() -> tuple[Floor, ...]:
    """The floors of the runtime."""
    return _flat_floors("runtime-rooms", INSIDE)


def _flat_floors(name: str, words: Mapping[str, str]) -> tuple[Floor, ...]:
    return tuple(Floor("", tuple(Room(room, words[_last(room)]) for room in floor)) for floor in contract(name))


def house() -> tuple[Floor, ...]:
    """The floors of the house; recorders are beside the faces."""
    floors: list[Floor] = []
    for names in contract("layers"):
        rooms = tuple(Room(name, ROOMS[_last(name)]) for name in names)
        floors.append(Floor(TITLES[_last(names[0])], (*rooms, RECORDERS) if not floors else rooms))
    return tuple(floors)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


LANES = (
    Room("replay_dd.experiment", "driver"),
    Room("replay_dd.dd", "algorithm"),
    Room("replay_dd.schedules", "circumstance"),
    Room("replay_dd.schedules.runtime.process", "fork server"),
    Room("replay_dd.schedules.runtime.baton", "in the program"),
)
# From which lane to which, and what is handed over.
TEST = (
    (0, 1, "which configuration next?"),
    (1, 0, "a set of deltas"),
    (0, 2, "run(configuration)"),
    (2, 2, "applies the deltas: a schedule of triggers"),
    (2, 3, "run under this schedule"),
    (3, 4, "fork, just before the first thread starts"),
    (4, 4, "at each yield point: keep the baton or hand it on"),
    (4, 3, "what happened: switches, digest, ending"),
    (3, 2, "the log of the run"),
    (2, 0, "the run"),
    (0, 2, "judge(run)"),
    (2, 0, "PASS, FAIL or UNRESOLVED; signature; words"),
    (0, 1, "tell(outcome)"),
)

_FONTS = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
_WIDTH_PX, _MARGIN_PX, _TITLE_PX = 920, 20, 18
_INK, _PALE, _LINE = "#1f2328", "#57606a", "#8c959f"
# Of a room's words: their size, the room from one line to the next, and at most for a character in any of the fonts.
_WORDS_PX, _LEADING_PX, _CHARACTER_PX = 12, 15, 6.8
# Where a room's words begin: beside its walls, or on a flat floor beside its name.
_PADDING_PX, _NAME_PX = 10, 156


def rooms() -> str:
    """The floors of the house, with the arrow that says what may import what; those of two of its rooms below."""
    parts, y = _floors("replay-dd: arrows only go down", house(), _MARGIN_PX, "#ddf4ff")
    for title, floors, colour in (
        ("schedules: thread schedules", schedules(), "#dafbe1"),
        ("schedules/runtime, loaded into the program under test", runtime(), "#fff8c5"),
    ):
        more, y = _floors(title, floors, y + 28, colour)
        parts += more
    return _svg(parts, y + _MARGIN_PX, "The rooms of replay-dd, from the faces to the ground floor")


def _floors(title: str, floors: Iterable[Floor], y: int, colour: str) -> tuple[list[str], int]:
    """The floors from here on downwards, and where they end. A floor without a title is a flat one."""
    parts = [_text(_MARGIN_PX, y + 16, title, size=16, weight="bold")]
    y += 30
    top = y
    for floor in floors:
        gap = 12 if floor.title else 5
        width = (_WIDTH_PX - 2 * _MARGIN_PX - 30 - (len(floor.rooms) - 1) * gap) / len(floor.rooms)
        words = [_lines_of(room.words, width, flat=not floor.title) for room in floor.rooms]
        height = (31 if floor.title else 13) + _LEADING_PX * max(map(len, words))
        if floor.title:
            parts.append(_text(_MARGIN_PX + 30, y + 12, floor.title, size=12, ink=_PALE))
            y += _TITLE_PX
        for number, room in enumerate(floor.rooms):
            x = _MARGIN_PX + 30 + number * (width + gap)
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{height}" rx="6" fill="{colour}" '
                f'stroke="{_LINE}"/>'
            )
            parts.append(_text(x + _PADDING_PX, y + 19, _short(room.name).rpartition("/")[2], size=14, weight="bold"))
            left, first = (x + _PADDING_PX, y + 37) if floor.title else (x + _NAME_PX, y + 19)
            for row, line in enumerate(words[number]):
                parts.append(_text(left, first + row * _LEADING_PX, line, size=_WORDS_PX))
        y += height + gap
    parts.append(_arrow(_MARGIN_PX + 10, top, _MARGIN_PX + 10, y - gap))
    return parts, y - gap


def _lines_of(words: str, width_px: float, *, flat: bool) -> list[str]:
    """The words of a room of this width, line by line."""
    room_px = width_px - _PADDING_PX - (_NAME_PX if flat else _PADDING_PX)
    return wrap(words, int(room_px / _CHARACTER_PX), break_long_words=False)


def one_test() -> str:
    """What is handed over in one test, from lane to lane, from above to below."""
    step_px, head_px = 44, 58
    lane_px = (_WIDTH_PX - 2 * _MARGIN_PX) / len(LANES)
    middles = [_MARGIN_PX + (number + 0.5) * lane_px for number in range(len(LANES))]
    bottom = _MARGIN_PX + head_px + len(TEST) * step_px
    parts = []
    for middle, lane in zip(middles, LANES, strict=True):
        left, width = middle - lane_px / 2 + 5, lane_px - 10
        colour = "#fff8c5" if ".runtime." in lane.name else "#ddf4ff"
        parts.append(f'<line x1="{middle:.0f}" y1="{_MARGIN_PX + head_px - 8}" x2="{middle:.0f}" y2="{bottom}" '
                     f'stroke="{_LINE}" stroke-dasharray="4 4"/>')  # fmt: skip
        parts.append(f'<rect x="{left:.0f}" y="{_MARGIN_PX}" width="{width:.0f}" height="{head_px - 8}" rx="6" '
                     f'fill="{colour}" stroke="{_LINE}"/>')  # fmt: skip
        parts.append(_text(middle, _MARGIN_PX + 21, _short(lane.name), size=13, weight="bold", anchor="middle"))
        parts.append(_text(middle, _MARGIN_PX + 39, lane.words, size=12, anchor="middle"))
    for number, (start, end, words) in enumerate(TEST, 1):
        y = _MARGIN_PX + head_px + number * step_px - 14
        label = f"{number}  {words}"
        if start == end:
            parts.append(f'<circle cx="{middles[start]:.0f}" cy="{y - 4}" r="5" fill="{_INK}"/>')
            # Beside the lane where there is room for it.
            right = start < len(LANES) / 2
            x = middles[start] + (12 if right else -12)
            parts.append(_label(x, y, label, "start" if right else "end"))
        else:
            parts.append(_label((middles[start] + middles[end]) / 2, y - 10, label, "middle"))
            parts.append(_arrow(middles[start], y, middles[end], y))
    return _svg(parts, bottom + _MARGIN_PX, "What is handed over in one test, from the driver to the program and back")


def _short(name: str) -> str:
    return name.removeprefix("replay_dd.").removeprefix("schedules.").replace(".", "/")


def _label(x: float, y: float, text: str, anchor: str) -> str:
    # With a white rim, as lanes run through it.
    rim = 'paint-order="stroke" stroke="white" stroke-width="6" stroke-linejoin="round"'
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="12.5" text-anchor="{anchor}" fill="{_INK}" {rim}>'
        f"{escape(text)}</text>"
    )


def _text(
    x: float, y: float, text: str, *, size: int, weight: str = "normal", ink: str = _INK, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
        f'fill="{ink}">{escape(text)}</text>'
    )


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{_INK}" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )


def _svg(parts: Iterable[str], height: int, title: str) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH_PX}" height="{height}" '
        f'viewBox="0 0 {_WIDTH_PX} {height}" role="img" font-family="{_FONTS}">'
    )
    marker = (
        '<defs><marker id="head" markerWidth="9" markerHeight="8" refX="9" refY="4" orient="auto">'
        f'<path d="M0,0 L9,4 L0,8 z" fill="{_INK}"/></marker></defs>'
    )
    background = f'<rect width="{_WIDTH_PX}" height="{height}" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", marker, background, *parts, "</svg>"]) + "\n"


PICTURES = {"architecture.svg": rooms, "one-test.svg": one_test}


def main() -> int:
    """Draw both."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        path: Path = FOLDER / name
        path.write_text(draw(), encoding="utf-8")
        print(f"{path.relative_to(CHECKOUT)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
