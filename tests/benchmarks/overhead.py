"""What recording costs: each kind of program, each granularity, C and Python back end, each Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, median, ratio, run_worker

C, PYTHON = True, False
_MODES = (
    ("sync", C, "default"),
    ("gil", C, "default"),
    ("line", C, "default"),
    ("access", C, "default"),
    ("line", PYTHON, "default"),
    ("access", PYTHON, "default"),
)
_NATURAL_MODES = (("access", C, "default"), ("access", C, "natural"))


@dataclass(frozen=True)
class Kind:
    """A kind of program: its file, how much it does, and what the table calls it.

    Attributes:
        rounds: of the plain run, or nothing.
        divisors: how many times fewer rounds there are under the C and under the Python back end.
        others: further arguments.
    """

    title: str
    program: str
    rounds: tuple[int, ...]
    divisors: tuple[int, int] = (1, 1)
    others: tuple[int, ...] = ()


_KINDS = (
    Kind("CPU-bound", "cpu_bound.py", (64_000,), (1, 8)),
    Kind("attributes only", "attributes.py", (1_600_000,), (4, 32)),
    Kind("lock-heavy", "lock_heavy.py", (160_000,), (2, 16)),
    Kind("queue-heavy", "queue_heavy.py", (64_000,), (4, 8)),
    Kind("I/O: files", "file_bound.py", (400,)),
    Kind("I/O: sockets", "socket_bound.py", (150,)),
    Kind("I/O: sockets, two threads", "socket_bound.py", (150,), others=(2,)),
)

_ABOUT = """\
Each cell is the time of a round of the program under the runtime, divided by that of a round in the plain run beside
it, both without interpreter start-up (see below): the median of the pairs. Where rounds take much longer under the
runtime, it does fewer of them, so that both runs take about the same time. `sync` has no back end: its yield points are
operations on locks, files and clocks. The plain run starts in the same way as the other, in a private folder.
`replay-dd record` takes this time twice, because it replays its log once."""


def run(bench: Bench) -> Iterable[Section]:
    found = environments.pythons(bench)
    starts = {version: _measured(bench, version, python, _START) for version, python in found.items()}
    rows: list[list[object]] = []
    for kind in _KINDS:
        for version, python in found.items():
            rows.append([f"{kind.title}, {version}", *_cells(_measured(bench, version, python, kind), starts[version])])
    headers = ["program, Python", "plain", "yield points, `access`"]
    headers += [f"`{granularity}`" + ("" if accelerator else ", Python") for granularity, accelerator, _ in _MODES]
    programs = dict.fromkeys(f"- `{kind.program}`, {_about(kind.program)}" for kind in _KINDS)
    yield Section("Overhead of recording", [_ABOUT, Table(headers, rows), "\n".join(programs)])
    yield Section("Natural recording", [_ABOUT_NATURAL, _natural_table(bench, found, starts)])
    yield Section("Start-up", [_ABOUT_START, _start_table(starts)])


_ABOUT_NATURAL = """\
The same ratios at granularity `access`, under the default schedule and with `record --natural`, which reads the real
clock at least every 128 yield points, and switches after each interval and around each system call."""


def _natural_table(bench: Bench, found: dict[str, Path], starts: dict[str, list[Any] | str]) -> Table:
    rows: list[list[object]] = []
    for kind in _KINDS:
        for version, python in found.items():
            measured = _measured(bench, version, python, kind, _NATURAL_MODES)
            _, _, *ratios = _cells(measured, starts[version])
            rows.append([f"{kind.title}, {version}", *ratios])
    return Table(["program, Python", "default", "natural"], rows)


_START = Kind("start-up", "trivial.py", ())
_ABOUT_START = """\
A program that only starts two threads: the whole run, from creating its folder to reading its log. This is also what a
test costs without the fork server, on top of the program itself."""


def _measured(
    bench: Bench, version: str, python: Path, kind: Kind, modes: tuple[tuple[str, bool, str], ...] = _MODES
) -> list[Any] | str:
    bench.tell(f"overhead: {kind.title}, Python {version}")
    request = {
        "program": kind.program,
        "rounds": kind.rounds,
        "divisors": kind.divisors,
        "others": kind.others,
        "modes": modes,
        "repeats": bench.repeats if kind is not _START else 5 + bench.repeats,
    }
    try:
        answer: list[Any] = run_worker(python, "overhead_worker.py", request)
    except WorkerError as error:
        return str(error)
    return answer


def _cells(measured: list[Any] | str, start: list[Any] | str) -> list[object]:
    if isinstance(measured, str) or isinstance(start, str):
        return [measured if isinstance(measured, str) else start, *[""] * (len(_MODES) + 1)]
    plain_start = median(pair[0] for mode in start for pair in mode["pairs"])
    own_start = median(pair[1] for mode in start for pair in mode["pairs"])
    ratios = []
    for mode in measured:
        net = [(plain - plain_start, (seconds - own_start) * mode["divisor"]) for plain, seconds in mode["pairs"]]
        usable = all(plain > plain_start and recorded > 0 for plain, recorded in net)
        ratios.append(ratio(recorded / plain for plain, recorded in net) if usable else "too noisy")
    plain = median(pair[0] for mode in measured for pair in mode["pairs"]) - plain_start
    return [f"{plain * 1e3:.0f} ms", f"{max(mode['yield_points'] for mode in measured):,}", *ratios]


def _start_table(starts: dict[str, list[Any] | str]) -> Table:
    rows: list[list[object]] = []
    for version, start in starts.items():
        if isinstance(start, str):
            rows.append([version, start, *[""] * len(_MODES)])
            continue
        plain = median(pair[0] for mode in start for pair in mode["pairs"])
        whole = [median(pair[1] for pair in mode["pairs"]) for mode in start]
        rows.append([version, *(f"{seconds * 1e3:.1f} ms" for seconds in (plain, *whole))])
    modes = [f"`{granularity}`" + ("" if accelerator else ", Python") for granularity, accelerator, _ in _MODES]
    return Table(["Python", "plain", *modes], rows)


def _about(program: str) -> str:
    """What a program says of itself."""
    text = (Path(__file__).parent / "programs" / program).read_text(encoding="utf-8")
    return " ".join(text.partition('"""')[2].partition('"""')[0].split("\n\nArguments")[0].split())
