"""Invents inputs until a program fails on one.

Rules of this module:

* An input follows from the seed and its number alone, so the same command finds the same failure, with any number of
  jobs: of several failing inputs, the one with the lowest number counts.
* Without a file to start from, inputs are random characters, every second one of them only printable (after Miller,
  Fredriksen and So, "An empirical study of the reliability of UNIX utilities", CACM 33(12), 1990). With one, they are
  mutations of it.
* A limit or Ctrl-C ends the search after the last input of which all before it were tried, too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import StoppedBy
from replay_dd.experiment.waiting import result_of
from replay_dd.input.forks import Runs
from replay_dd.input.target import Target
from replay_dd.outcome import Outcome

_PRINTABLE = bytes((9, 10, *range(32, 127)))
_MOST_MUTATIONS = 8
_LONGEST_PIECE = 64
_INTERESTING = (b"\0", b"\xff", b"\n", b"-1", b"0", b"65536", b"2147483648", b"99999999999999999999", b"%s", b"'", b'"')


@dataclass(frozen=True, slots=True)
class FailingInput:
    """An input on which a program failed.

    Attributes:
        content: the input.
        number: its number, from 1.
        ending: how the program ended.
    """

    content: bytes
    number: int
    ending: Ending


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """What came of inventing inputs.

    Attributes:
        found: the first input on which the program failed; None if it did on none.
        tried: how many inputs were tried.
        stopped_by: what ended the search early.
    """

    found: FailingInput | None
    tried: int
    stopped_by: StoppedBy | None = None


def invented(seed: int, number: int, length: int, source: bytes | None = None) -> bytes:
    """The input of this number.

    Args:
        seed: random seed.
        number: its number, from 1.
        length: at most so many bytes of random characters.
        source: what to mutate instead.
    """
    chance = random.Random(f"{seed} {number}")
    if source:
        return _mutated(chance, source)
    amount = chance.randint(1, length)
    return bytes(chance.choices(_PRINTABLE, k=amount)) if number % 2 else chance.randbytes(amount)


def _mutated(chance: random.Random, content: bytes) -> bytes:
    for _ in range(chance.randint(1, _MOST_MUTATIONS)):
        start = chance.randint(0, len(content))
        stop = min(len(content), start + chance.randint(1, _LONGEST_PIECE))
        other = chance.randint(0, len(content))
        piece = content[other : other + chance.randint(1, _LONGEST_PIECE)]
        middle = chance.choice(
            (
                b"",
                piece,
                content[start:stop] * 2,
                chance.choice(_INTERESTING),
                bytes(chance.choices(_PRINTABLE, k=chance.randint(1, 4))),
                chance.randbytes(1),
            )
        )
        content = content[:start] + middle + content[stop:]
    return content


def find_failing_input(
    target: Target,
    oracle: Oracle,
    *,
    seed: int = 0,
    runs: int,
    length: int,
    source: bytes | None = None,
    jobs: int = 1,
    time_budget_s: float | None = None,
    may_fork: bool = True,
    on_run: Callable[[int], None] = lambda number: None,
) -> Fuzzed:
    """Run a program on invented inputs until it fails.

    Args:
        target: runs the program.
        oracle: what counts as a failure.
        seed: random seed.
        runs: how many inputs to try.
        length: at most so many random bytes.
        source: what to mutate instead.
        jobs: the number of runs at the same time.
        time_budget_s: try no further input after this many seconds.
        may_fork: fork a Python program where it first touches its input, rather than start it anew for each one.
        on_run: called with the number of each input that has been tried, in order.

    Raises:
        ProgramNotFoundError: there is no such program.
    """

    def one(number: int) -> FailingInput | None:
        content = invented(seed, number, length, source)
        ending = made.ending(content)
        return FailingInput(content, number, ending) if ending.verdict is Outcome.FAIL else None

    ends_at = None if time_budget_s is None else time.monotonic() + time_budget_s
    # Whatever ends it ends all runs; a script may go on after that.
    with (
        LIVE.reopened_after(),
        GUARD.held(),
        Runs(target, oracle, may_fork=may_fork) as made,
        ThreadPoolExecutor(jobs, "replay-dd-fuzz") as pool,
    ):
        tried = 0
        try:
            waiting = [pool.submit(one, number) for number in range(1, min(jobs, runs) + 1)]
            for number in range(1, runs + 1):
                found = result_of(waiting.pop(0))
                tried = number
                on_run(number)
                if found is not None:
                    return Fuzzed(found, tried)
                if ends_at is not None and time.monotonic() >= ends_at and number < runs:
                    return Fuzzed(None, tried, "time")
                if number + jobs <= runs:
                    waiting.append(pool.submit(one, number + jobs))
        except KeyboardInterrupt:
            LIVE.kill_all()
            return Fuzzed(None, tried, "interrupt")
        except BaseException:
            LIVE.kill_all()  # otherwise the other runs go on
            raise
    return Fuzzed(None, runs)
