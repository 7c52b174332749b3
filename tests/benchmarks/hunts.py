"""How many executions it takes until a bug is seen, for bugs of many kinds, beside the two peers."""

from __future__ import annotations

import hashlib
import json
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.harness import HERE, Bench, Section, Table, WorkerError, median, run_worker
from tests.benchmarks.peers import PYTHON, REQUIREMENTS, TOOLS

_RUNS = 300
_LIMIT_S = 20.0
_SEEDS = 5
_WIDTH = 120  # of a line of the page
_TUNED_ON = (
    "number taken twice",
    "rate limiter",
    "subscription",
    "callback lost",
    "closed when taken",
    "torn read",
    "task done twice",
    "pool of one",
    "order of four",
    "on without the lock",
    "computed twice",
    "item dropped",
    "copies",
    "two of four deadlock",
)
_MEASURED = environments.FOLDER / "hunts-of-peers.json"

_ABOUT = """\
Executions until the bug is seen, medians over five seeds; *x of y* says how many seeds found it within 300 executions
and 20 s, where not all did. The programs (`programs/hunted.py`) are ordinary classes with two to four threads.
Strategies were tuned on them and on programs like them, so the table of programs held back says more."""

_ABOUT_LEARNT_FROM = """\
The same on 210 programs that were written apart from the work on strategies (`programs/learnt_from/`), and then looked
into. Each is a script, which replay-dd runs as it is; the other tools call its `make()`, `WORKERS` and `holds()`."""

_ABOUT_HELD_BACK = """\
12 more (`programs/held_back/`), by somebody who knew nothing of how hunts choose. A coin drew them from 24, and nobody
who works on hunts has looked at them. On the other 12, which were learnt from, replay-dd needed no more executions than
the best of the others in 9 and at most twice as many in 9, before and after that. *makes no `Timer`* and *has no
current thread* mean that the tool fails in the repaired program, too."""


def run(bench: Bench) -> Iterable[Section]:
    own = environments.pythons(bench).get(PYTHON)
    try:
        others: Path | WorkerError = environments.peers(bench, "peers", PYTHON, REQUIREMENTS)
    except WorkerError as error:
        others = error
    yield _section(bench, own, others, "Hunts", _ABOUT, "hunted", _TUNED_ON)
    for title, about, folder in (
        ("Hunts of programs learnt from", _ABOUT_LEARNT_FROM, "learnt_from"),
        ("Hunts of programs held back", _ABOUT_HELD_BACK, "held_back"),
    ):
        scripts = sorted(path.stem for path in (HERE / "programs" / folder).glob("*.py"))
        yield _section(bench, own, others, title, about, folder, scripts)


def _section(
    bench: Bench,
    own: Path | None,
    others: Path | WorkerError,
    title: str,
    about: str,
    programs: str,
    bugs: Sequence[str],
) -> Section:
    rows: dict[str, list[object]] = {bug: [bug.replace("_", " ")] for bug in bugs}
    medians: dict[str, dict[str, float]] = {bug: {} for bug in bugs}
    for tool in TOOLS:
        bench.tell(f"hunts of {programs}: {tool}")
        python = own if tool == "replay-dd" else others
        for bug in bugs:
            try:
                answer = _searched(tool, python, programs, bug)
            except WorkerError as error:
                rows[bug].append(str(error))
                continue
            hits = [one["executions"] for one in answer if one["found"]]
            if len(hits) * 2 > len(answer):
                medians[bug][tool] = median(hits)
            rows[bug].append(_cell(hits, len(answer)))
    return Section(title, [about, Table(["bug", *TOOLS], list(rows.values())), _beside_the_best(medians)])


def _searched(tool: str, python: Path | WorkerError | None, programs: str, bug: str) -> list[dict[str, Any]]:
    """The searches of a tool; those of the others are kept until they or the program change.

    Raises:
        WorkerError: there is no answer.
    """
    if isinstance(python, WorkerError):
        raise python
    if python is None:
        raise WorkerError(f"no Python {PYTHON} on this machine")
    seeds = list(range(1, 2 if "dpor" in tool else 1 + _SEEDS))  # dpor draws no random numbers
    request = {"tool": tool, "programs": programs, "searches": [(bug, 0, _RUNS, seeds)], "limit_s": _LIMIT_S}
    key = "" if tool == "replay-dd" else f"{json.dumps(request)} {REQUIREMENTS} {_text_of(programs, bug)}"
    known: dict[str, Any] = json.loads(_MEASURED.read_text()) if _MEASURED.is_file() else {}
    if key not in known:
        known[key] = _asked(tool, python, request)
        if key:
            _MEASURED.write_text(json.dumps(known))
    if isinstance(known[key], str):
        raise WorkerError(known[key])
    found: list[dict[str, Any]] = known[key]
    return found


def _asked(tool: str, python: Path, request: dict[str, Any]) -> list[dict[str, Any]] | str:
    """The answer of a worker, or why there is none."""
    before = [python.parent / "frontrun"] if tool.startswith("frontrun") else []
    try:
        answer = run_worker(python, "peers_worker.py", request, before=before, time_limit_s=_LIMIT_S * (_SEEDS + 1))
    except WorkerError as error:
        return str(error)
    found: list[dict[str, Any]] = answer[0]
    return found


def _text_of(programs: str, bug: str) -> str:
    """A digest of the program, and of what runs it."""
    folder = HERE / "programs"
    script = folder / programs / f"{bug}.py"
    files = [HERE / "peers_worker.py", folder / "bugs.py", script if script.is_file() else folder / f"{programs}.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _cell(hits: list[int], searches: int) -> str:
    if not hits:
        return "not found"
    text = f"{median(hits):.0f}"
    return text if len(hits) == searches else f"{text} ({len(hits)} of {searches})"


def _beside_the_best(medians: dict[str, dict[str, float]]) -> str:
    """How replay-dd does beside the best of the others, for each bug whichever that is."""
    ratios = []
    for counts in medians.values():
        best = min((count for tool, count in counts.items() if tool != "replay-dd"), default=None)
        if best is not None:
            ratios.append(counts.get("replay-dd", float("inf")) / best)
    no_worse, twice = sum(ratio <= 1 for ratio in ratios), sum(ratio <= 2 for ratio in ratios)
    found = (f"{sum(tool in counts for counts in medians.values())} ({tool})" for tool in TOOLS)
    own = [counts.get("replay-dd", float("inf")) for counts in medians.values()]
    text = (
        f"Found by most searches: {', '.join(found)} of {len(medians)}. replay-dd needs one execution for "
        f"{sum(count <= 1 for count in own)} of them, and at most two for {sum(count <= 2 for count in own)}. Against "
        f"whichever of the others is best on a bug, it needs no more executions in {no_worse} of {len(ratios)}, and at "
        f"most twice as many in {twice}. Against each alone, where not to find a bug counts as more, it needs no more "
        "in "
    )
    peers = [tool for tool in TOOLS if tool != "replay-dd"]
    alone = (f"{_no_more_than((tool,), medians, 'replay-dd')} ({tool})" for tool in peers)
    rest = (f"{_no_more_than([one for one in peers if one != tool], medians, tool)} ({tool})" for tool in peers)
    text += f"{', '.join(alone)}. By the first measure, each of the others beside the best of the other three: "
    return textwrap.fill(f"{text}{', '.join(rest)}.", _WIDTH)


def _no_more_than(peers: Sequence[str], medians: dict[str, dict[str, float]], tool: str) -> int:
    """In how many of the bugs a tool needs no more executions than the best of these peers."""
    never = float("inf")
    best = [min(counts.get(peer, never) for peer in peers) for counts in medians.values()]
    return sum(counts.get(tool, never) <= least for counts, least in zip(medians.values(), best, strict=True))
