"""Copies of a process get the pages that earlier copies wrote to, and nothing else is different for them."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program
from replay_dd.schedules.runtime.accelerator import accelerator
from tests.runtime.programs import write_program

pytestmark = pytest.mark.skipif(accelerator is None, reason="no accelerator for this interpreter")

_MADV_POPULATE_WRITE = 23


def knows_pages() -> bool:
    """Whether the system tells which pages a process has written to, and copies pages in advance (Linux 5.14)."""
    if not os.access("/proc/self/pagemap", os.R_OK):
        return False
    try:
        mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE).madvise(_MADV_POPULATE_WRITE)
    except OSError:
        return False
    return True


of_pages = pytest.mark.skipif(not knows_pages(), reason="this system does not know the pages of a process")

# Each copy tells which pages of a mapping were its own when it began, and when it had written to some of them.
_COPIES = """
import ctypes, json, marshal, mmap, os, struct
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.process.copies import Copies, tell_pages

SIZE, AMOUNT, WRITTEN = mmap.PAGESIZE, 64, (3, 4, 40)

def own(told):
    areas = list(struct.iter_unpack("NN", told))
    pages = [address + number * SIZE for number in range(AMOUNT)]
    return [number for number, page in enumerate(pages) if any(start <= page < end for start, end in areas)]

def copy(fork, in_the_end=lambda: None):
    reads, writes = os.pipe()
    process = fork()
    if process == 0:
        before = own(accelerator.written_pages())
        found = bytes(memory)
        for number in WRITTEN:
            memory[number * SIZE] = 2
        told = accelerator.written_pages()
        in_the_end()
        os.write(writes, json.dumps([before, own(told), found == content, told.hex()]).encode())
        os._exit(0)
    os.close(writes)
    with open(reads, "rb") as file:
        answer = json.load(file)
    assert os.waitpid(process, 0)[1] == 0
    return answer

memory = mmap.mmap(-1, AMOUNT * SIZE, flags=mmap.MAP_PRIVATE)
content = b"".join(bytes([number + 3]) * SIZE for number in range(AMOUNT))
memory[:] = content
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
"""

_WITH_PAGES = f"""{_COPIES}
first = copy(lambda: accelerator.fork(b""))
told = bytes.fromhex(first[3])
second = copy(lambda: accelerator.fork(told))
nowhere = copy(lambda: accelerator.fork(struct.pack("NN", SIZE, 2 * SIZE) + told + b"half"))
print(json.dumps([first[:3], second[:3], nowhere[:3]]))
"""

_LEARNING = f"""{_COPIES}
copies, told = Copies(), os.memfd_create("told")
answers = []
for _ in range(5):
    answers.append(copy(copies.make, lambda: tell_pages(lambda *record: os.write(told, marshal.dumps(record, 2))))[0])
    copies.learn(told)
    answers.append(os.fstat(told).st_size > 0)
    os.ftruncate(told, 0)
print(json.dumps(answers))
"""


def answer_of(script: str) -> Any:
    return json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


@of_pages
def test_copies_begin_with_the_pages_that_an_earlier_one_wrote_to() -> None:
    first, second, nowhere = answer_of(_WITH_PAGES)
    assert first == [[], [3, 4, 40], True]
    assert second == nowhere == [[3, 4, 40], [3, 4, 40], True]


@of_pages
def test_the_second_copy_is_asked_and_all_later_ones_begin_with_its_pages() -> None:
    early, late = [], [3, 4, 40]
    assert answer_of(_LEARNING) == [early, False, early, True, late, False, late, False, late, False]


def test_pages_are_bytes() -> None:
    assert accelerator is not None
    with pytest.raises(TypeError, match="expected bytes, not int"):
        accelerator.fork(1)


def test_runs_are_the_same_before_and_after_a_copy_has_told_its_pages(tmp_path: Path) -> None:
    text = """
        import threading

        def work():
            held.append(bytearray(1_000_000))
            print(id(held[-1]), id(object()))

        held = [bytearray(1_000_000)]
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """
    program = describe_program((sys.executable, str(write_program(tmp_path, text))), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        runs = [runner.run(Plan("random", {"seed": 1}), 60.0) for _ in range(7)]
        assert not runner.why_fresh
    assert len({(run.output, run.log.switches, run.log.ending.digest) for run in runs}) == 1
    assert runs[0].log.ending.notes == runs[6].log.ending.notes
