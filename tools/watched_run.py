"""Run the tests of a Python where everything can be seen, and end them when they hang.

pytest's time limit holds for a single test. A worker can also hang between tests or on its way out, and a machine can
be so slow that the whole run is cut off from outside: then nobody learns why. So this run ends first, and shows the
stacks of all of pytest's processes: `tests/conftest.py` makes each of them write its own.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Set for pytest: the folder where each of its processes writes its stacks on SIGQUIT.
STACKS = "REPLAY_DD_TEST_STACKS"
# A single test is ended after five minutes: a run that is silent for longer does not hang in a test.
SILENCE_S = 12 * 60.0
WRITING_S = 3.0
FAILURES = (b"FAILED ", b"ERROR ")  # with these, a line of pytest's summary begins
LONGEST_FAILURE = 300  # characters


@dataclass(frozen=True)
class Ended:
    """How a run ended.

    Attributes:
        status: the exit status; negative for a signal.
        last_line: the last line that it printed.
        hung: why the run was ended from here, or None.
        failures: the lines in which pytest names a test that failed, and why.
    """

    status: int
    last_line: str
    hung: str | None = None
    failures: tuple[str, ...] = ()


def run_watched(
    command: list[str],
    folder: Path,
    variables: dict[str, str],
    *,
    until: float,
    silence_s: float = SILENCE_S,
    label: str = "",
) -> Ended:
    """Run a command, and show each line that it prints as it comes.

    Args:
        command: what to run.
        folder: its working folder; the stacks go into a folder of that name with `-stacks` added.
        variables: its environment.
        until: when to end it at the latest, on the clock of `time.monotonic`.
        silence_s: seconds without output after which it is taken to hang.
        label: put before each line that is shown.
    """

    def show(lines: list[bytes]) -> None:
        # In one piece: other runs may be shown at the same time.
        sys.stdout.write("".join(f"{label}{line.decode(errors='replace')}\n" for line in lines))
        sys.stdout.flush()

    stacks = folder.with_name(f"{folder.name}-stacks")
    stacks.mkdir(exist_ok=True)
    unfinished = last_line = b""
    failures: list[str] = []
    hung = None
    # A process group of its own, so that pytest and its workers can be ended together.
    with subprocess.Popen(
        command, cwd=folder, env={**variables, STACKS: str(stacks)}, stdout=subprocess.PIPE, process_group=0
    ) as process:
        try:
            assert process.stdout is not None
            for chunk in chunks(process.stdout.fileno(), silence_s, until):
                if isinstance(chunk, str):
                    hung = chunk
                    show([unfinished])
                    show_stacks(process, stacks)
                    os.killpg(process.pid, signal.SIGKILL)
                    break
                *lines, unfinished = (unfinished + chunk).split(b"\n")
                show(lines)
                last_line = next((line for line in reversed(lines) if line.strip()), last_line)
                failures.extend(
                    line.decode(errors="replace")[:LONGEST_FAILURE] for line in lines if line.startswith(FAILURES)
                )
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if unfinished and hung is None:
        show([unfinished])
    last = (unfinished.strip() or last_line.strip()).decode(errors="replace")
    return Ended(process.returncode, last, hung, tuple(failures))


def chunks(descriptor: int, silence_s: float, until: float) -> Iterator[bytes | str]:
    """What can be read until the end of the file; a text says why it is not read on."""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            left_s = until - time.monotonic()
            if not selector.select(max(min(silence_s, left_s), 0.0)):
                yield f"nothing printed for {silence_s:.0f} s" if left_s > silence_s else "no time left"
                return
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return
            yield chunk


def show_stacks(process: subprocess.Popen[bytes], stacks: Path) -> None:
    """Let each of pytest's processes write its stacks, and print these."""
    for path in stacks.iterdir():
        try:
            os.kill(int(path.name), signal.SIGQUIT)
        except OSError:
            continue  # it has ended
    time.sleep(WRITING_S)
    print()
    for path in sorted(stacks.iterdir()):
        print(f"--- stacks of process {path.name}\n{path.read_text(errors='replace')}", flush=True)
