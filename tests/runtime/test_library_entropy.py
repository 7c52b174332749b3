"""Random numbers that libraries get from the system come again in a replay, and cannot be guessed without the log."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.target import TargetRun
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED
from tests.runtime.programs import assert_same, output_of, replayed, run_program

COMPILER = shutil.which("cc")
LIBRARY = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
unsigned long by_getrandom(void) { unsigned long it; getrandom(&it, sizeof it, 0); return it; }
unsigned long by_getentropy(void) { unsigned long it; getentropy(&it, sizeof it); return it; }
unsigned long by_syscall(void) { unsigned long it; syscall(SYS_getrandom, &it, sizeof it, 0); return it; }
int process_by_syscall(void) { return syscall(SYS_getpid); }
void fill(unsigned char *bytes, int size) { getrandom(bytes, size, 0); }
static void *draw(void *into) { *(unsigned long *)into = by_getrandom(); return NULL; }
unsigned long elsewhere(void) {
    unsigned long it;
    pthread_t thread;
    pthread_create(&thread, NULL, draw, &it);
    pthread_join(thread, NULL);
    return it;
}
long date(void) { return time(NULL); }
int process(void) { return getpid(); }
void *place(void) { return malloc(400); }
int grows(void) {
    char *it = calloc(100, 1);
    for (int index = 0; index < 100; index++) if (it[index]) return 0;
    for (int size = 101; size < 100000; size = size * 3 / 2) {
        it[size / 2] = 7;
        it = realloc(it, size);
        if (it[size / 2] != 7) return 0;
    }
    free(it);
    return 1;
}
"""
DRAWS = """
import ctypes, os, sys, threading
library = ctypes.CDLL(os.path.abspath(sys.argv[1]))
for name in ("by_getrandom", "by_getentropy", "by_syscall", "elsewhere", "place"):
    getattr(library, name).restype = ctypes.c_ulong
def draw(): print(library.by_getrandom(), library.by_getentropy(), library.by_syscall())
draw()
threads = [threading.Thread(target=draw) for _ in range(2)]
for thread in threads: thread.start(); thread.join()
draw()
"""
WITH_OPENSSL = "cryptography/hazmat/bindings/lib.so"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    has_glibc = platform.libc_ver()[0] == "glibc" and platform.machine() in ("x86_64", "aarch64")
    if COMPILER is None or accelerator is None or not has_glibc:
        pytest.skip("there is no C compiler, or no accelerator for this system")
    (tmp_path / "lib.c").write_text(LIBRARY)
    (tmp_path / WITH_OPENSSL).parent.mkdir(parents=True)
    for options in (("lib.so",), ("sealed.so", "-Wl,-z,relro,-z,now"), (WITH_OPENSSL,)):
        command = [COMPILER, "-shared", "-fPIC", "-pthread", "-o", *options, "lib.c"]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    return tmp_path


def run(folder: Path, text: str = DRAWS, library: str = "lib.so", settings: Settings | None = None) -> TargetRun:
    return run_program(folder, text, arguments=[library], settings=settings or settings_for_now())


@pytest.mark.parametrize("library", ["lib.so", "sealed.so"])
def test_a_replay_draws_the_same_numbers_and_another_recording_others(library: str, folder: Path) -> None:
    first = run(folder, library=library)
    numbers = output_of(first).split()
    assert len(set(numbers)) == 12  # also: each thread has numbers of its own
    assert_same(first, replayed(first.log))
    assert not set(numbers) & set(output_of(run(folder, library=library)).split())
    assert not first.log.ending.notes


def test_with_real_entropy_and_in_an_old_log_the_numbers_are_real(folder: Path) -> None:
    for settings in (settings_for_now(real_entropy=True), Settings()):
        first = run(folder, settings=settings)
        assert not set(output_of(first).split()) & set(output_of(replayed(first.log)).split())


def test_who_is_not_under_control_gets_real_numbers(folder: Path) -> None:
    text = (
        DRAWS
        + "if os.fork() == 0: draw(); os._exit(0)\nos.wait()\nprint(library.elsewhere(), library.process_by_syscall())"
    )
    first = run(folder, text)
    again = replayed(first.log)
    one, other = output_of(first).splitlines(), output_of(again).splitlines()
    assert one[:4] == other[:4]
    assert not set(" ".join(one[4:]).split()) & set(" ".join([*one[:4], *other]).split())


def test_keys_that_a_run_made_are_told(folder: Path) -> None:
    text = "import ctypes, threading\nlibrary = ctypes.CDLL('./lib.so')\nbuffer = ctypes.create_string_buffer(32)\n"
    text += "thread = threading.Thread(target=lambda: library.fill(buffer, 32))\nthread.start()\nthread.join()"
    (note,) = run(folder, text).log.ending.notes
    assert note.startswith("./lib.so drew random numbers from a key in the log")


@pytest.mark.skipif(FREE_THREADED, reason="addresses are not held fixed in builds without a GIL")
def test_what_openssl_mixes_into_its_numbers_is_fixed(folder: Path) -> None:
    text = DRAWS + "print(library.date(), library.process(), library.place(), library.place(), library.grows())"
    first = run(folder, text, WITH_OPENSSL)
    told = output_of(first).splitlines()[-1].split()
    assert told[0] == str(first.log.settings.start_ns // 10**9)
    assert told[-1] == "1"
    assert_same(first, replayed(first.log))
    environment = {**first.log.program.environment, "LONGER": "x" * 5_000}
    elsewhere = replace(first.log, program=replace(first.log.program, environment=environment))
    assert output_of(replayed(elsewhere)).splitlines()[-1].split() == told


def test_the_numbers_are_a_chacha20_keystream(folder: Path) -> None:
    """RFC 8439, appendix A.1, test vectors 1 and 2: key and nonce of zeros, counters 0 and 1."""
    text = """
import ctypes
from replay_dd.schedules.runtime.accelerator import accelerator
library, buffer = ctypes.CDLL("./lib.so"), ctypes.create_string_buffer(128)
accelerator.seed_libraries(bytes(32), -1)
accelerator.seed_thread(0)
library.fill(buffer, 3)
library.fill(ctypes.byref(buffer, 3), 125)
print(buffer.raw[:16].hex(), buffer.raw[64:80].hex())
"""
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["76b8e0ada0f13d90405d6ae55386bd28", "9f07e7be5551387a98ba977c732d080d"]
