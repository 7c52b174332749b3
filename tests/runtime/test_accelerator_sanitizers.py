"""The accelerator under the address, leak and undefined-behaviour sanitizers of gcc.

The interpreter itself leaves memory behind when it ends, so of the leaks only those count that were allocated by a call
from the accelerator.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

import replay_dd.schedules.runtime as runtime
from replay_dd.experiment.process import private_folder, run
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, make_run, prepare, run_target
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED

RUNTIME = Path(runtime.__file__).parent
ROOM = RUNTIME / "accelerator"
SOURCES = sorted(ROOM.glob("*.c"))
WITH_MISTAKES = "tables.c"
PROGRAM = """
import os, sqlite3, tempfile, threading

class Account:
    balance = 0

def numbers(n):
    for i in range(n):
        yield i

def work():
    for i in numbers(40):
        with lock:
            account.balance += i
        try:
            if i == 7: raise ValueError(i)
        except ValueError:
            exec(compile(f"account.balance += {i}", f"{threading.current_thread().name}.py", "exec"))

def deep(n):
    return account.balance if n == 0 else deep(n - 1)

def save(path, journal):
    connection = sqlite3.connect(path)
    connection.execute("begin immediate")
    connection.execute("create table if not exists balances (balance)")
    for i in numbers(10):
        connection.execute("insert into balances values (?)", (i,))
    connection.execute("insert into balances select random() + length(randomblob(3)) + julianday('now')")
    connection.commit()
    connection.execute(f"pragma journal_mode = {journal}")
    with connection: connection.execute("delete from balances")
    connection.close()

# More places of operations than the accelerator keeps.
often = "def lock_often():\\n" + " with lock: account.balance += 1\\n" * 300
exec(compile(often, "often.py", "exec"))

account, lock = Account(), threading.Lock()
with tempfile.TemporaryDirectory() as folder:
    for journal in ("delete", "wal"):
        path = os.path.join(folder, "data-" + journal)
        threads = [threading.Thread(target=save, args=(path, journal)) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
threads = [threading.Thread(target=target) for target in (work, work, work, lock_often, lock_often)]
for thread in threads: thread.start()
for thread in threads: thread.join()
try:
    deep(10**6)
except RecursionError:
    print("too deep")
"""
# Enough to reach the function that MISTAKES change.
SHORT = """
import threading
def work(): return list(map(str, shared))
shared = []
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
# From Python 3.12 on, the interpreter keeps interned texts (the names of the accelerator's functions) for ever.
KEPT = "in PyUnicode_InternFromString"
FOUND = re.compile("leak of|ERROR: AddressSanitizer|runtime error")
# A mistake of each kind, put in front of the first statement of the function that adds a table.
MISTAKES = {
    "a leak": "void *volatile lost = malloc(64); lost = NULL;",
    "a write behind a block": "volatile char *b = malloc(64); volatile int behind = 64; b[behind] = 1;",
    "an overflow": "volatile int big = 2147483647; big = big + 1;",
}


def library(name: str) -> Path | None:
    """A library of gcc, if it is there."""
    if shutil.which("gcc") is None:
        return None
    done = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    return path if path.is_absolute() and path.exists() else None


ADDRESS = library("libasan.so")
headers = Path(sysconfig.get_path("include")) / "Python.h"
pytestmark = [
    pytest.mark.skipif(ADDRESS is None or not headers.exists(), reason="no gcc, sanitizers or headers of this Python"),
    pytest.mark.skipif(accelerator is None or not SOURCES, reason="no accelerator, or no source of it"),
    pytest.mark.skipif(FREE_THREADED, reason="sanitizers see what malloc(3) gives, and such builds never ask it"),
]


SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled sources of the accelerator, under sanitizers; made once, since that takes longer than a run."""
    folder = tmp_path_factory.mktemp("objects")
    compile_into(folder, {path.name: path.read_text() for path in SOURCES})
    return folder


def compile_into(folder: Path, sources: dict[str, str]) -> None:
    """Compile these sources, in a folder of a name by which reports of mistakes in them are told from others."""
    written = folder / "_accelerator"
    written.mkdir()
    for name, text in sources.items():
        (written / name).write_text(text)
    macros = (f'-DINTERFACE="{accelerator.interface}"', '-DSOURCE=""')
    folders = (f"-I{sysconfig.get_path('include')}", f"-I{ROOM}")
    options = ("-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", *SANITIZERS, *macros, *folders)
    subprocess.run(["gcc", "-c", *options, *sorted(written.iterdir())], cwd=folder, check=True)


def build(folder: Path, objects: Path, mistake: str = "") -> Path:
    """A copy of the runtime with an accelerator under sanitizers; returns its ``site`` folder."""
    copy = folder / "runtime"
    shutil.copytree(RUNTIME, copy, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    parts = {path.name: path for path in objects.glob("*.o")}
    if mistake:
        text = (ROOM / WITH_MISTAKES).read_text()
        text, times = re.subn(r"(add_code\([^;{]*\)\n\{\n)", rf"\1    {mistake}\n", text, count=1)
        assert times == 1
        compile_into(folder, {WITH_MISTAKES: text})
        parts |= {path.name: path for path in folder.glob("*.o")}
    output = copy / "accelerator" / f"_accelerator{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run(["gcc", "-shared", *SANITIZERS, "-o", output, *parts.values()], check=True)
    return copy / "site"


def sanitized(
    folder: Path, objects: Path, settings: Settings, plan: Plan, text: str = PROGRAM, mistake: str = ""
) -> tuple[TargetRun, list[str]]:
    """One run under sanitizers, and what they say of the accelerator."""
    site = build(folder, objects, mistake)
    reports = folder / "reports"
    reports.mkdir()
    program = described(folder, text)
    with private_folder() as private:
        command = prepare(program, settings, plan, private)
        environment = {
            **command.environment,
            "PYTHONPATH": str(site),
            "PYTHONMALLOC": "malloc",
            "LD_PRELOAD": str(ADDRESS),
            # Most of the time goes into the stacks of allocations: with 30 frames, runs take 1.6 times as long.
            "ASAN_OPTIONS": f"detect_leaks=1:exitcode=0:log_path={reports}/address"
            ":fast_unwind_on_malloc=0:malloc_context_size=16",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        }
        finished = run(replace(command, environment=environment), private, time_limit_s=240, show_output=False)
        target = make_run(program, settings, plan, finished, private)
    texts = [target.output.decode(errors="replace"), *(path.read_text(errors="replace") for path in reports.iterdir())]
    if any("LeakSanitizer has encountered a fatal error" in text for text in texts):
        pytest.skip("the leak sanitizer may not look into processes here")
    parts = [part for text in texts for part in text.split("\n\n")]
    return target, [part for part in parts if is_ours(part) and FOUND.search(part) and KEPT not in part]


def is_ours(report: str) -> bool:
    """Whether the accelerator did it; what the interpreter loses was allocated through it, too."""
    if " leak of " in report:
        report = "\n".join(line for line in report.splitlines() if "_memory.c" not in line)
    return "_accelerator" in report


def described(folder: Path, text: str = PROGRAM) -> Program:
    (folder / "prog.py").write_text(text)
    return describe_program((sys.executable, "prog.py"), directory=folder)


@pytest.mark.parametrize("granularity", ["access", pytest.param("line", marks=pytest.mark.once)])
def test_no_leak_and_no_undefined_behaviour(granularity: str, objects: Path, tmp_path: Path) -> None:
    settings = Settings(granularity)
    plan = Plan("random", {"seed": 3})
    usual = run_target(described(tmp_path), settings, plan, time_limit_s=120)
    places = tuple({switch.place.key for switch in usual.log.switches if switch.place})
    target, said = sanitized(tmp_path, objects, settings, replace(plan, watched=places))
    assert said == []
    assert target.log.ending.status == 0, target.output
    assert "in C" in target.backend or target.backend.startswith("C "), target.backend_reason
    assert target.log.ending.digest == usual.log.ending.digest


@pytest.mark.once
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_sanitizers_see_mistakes_in_it(mistake: str, objects: Path, tmp_path: Path) -> None:
    _, said = sanitized(tmp_path, objects, Settings(), Plan(), SHORT, MISTAKES[mistake])
    assert said, f"{mistake} was not seen"
