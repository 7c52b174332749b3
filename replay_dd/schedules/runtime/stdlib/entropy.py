"""Entropy of the target: fixed, so that a schedule determines the run.

``os.urandom`` gives each thread a stream of its own, drawn from the recorded seed; the generators of ``random`` that
the program does not seed itself are seeded from it.

How many numbers were drawn while tests were loaded depends on which of them were: all of a suite, or one alone. So the
streams are others from the first test on.

A forked child has streams of its own, as no two processes draw the same from the system.
"""

from __future__ import annotations

import os

from ..accelerator.library_entropy import cover_libraries, seed_libraries, seed_thread
from ..splitmix import Generator
from .replacing import hide_frames_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler

real_urandom = os.urandom

_LOADED = 0x9E3779B97F4A7C15  # tells the streams of tests from those of what was loaded before
_begun: list[int] = []  # that, once the first test begins
_branch = 0  # tells the streams of this process from those of the one that forked it
_streams: dict[int, Generator] = {}
_module: list[Any] = []  # `random`, as long as the program has not seeded it
_reseeds: list[Callable[[], None]] = []  # what seeds `random` in a forked child, as the module itself does


def begin_tests() -> None:
    """Draw from new streams from now on: the first test begins. Only the first call does so."""
    if _begun:
        return
    _begun.append(_LOADED)
    _streams.clear()
    for module in _module:
        module.seed()


def go_on_in_child(number: int) -> None:
    """This process was forked by the program: draw from streams of its own.

    Args:
        number: which fork of its parent it is, from 1.
    """
    global _branch
    _branch = Generator(_branch ^ number).next()
    _streams.clear()
    for reseed in _reseeds:
        reseed()


def entropy_replacements(scheduler: Scheduler, seed: int) -> dict[str, Callable[..., bytes]]:
    """Replacements of ``os.urandom`` and ``os.getrandom``, by thread and seed."""

    def urandom(size: int, /) -> bytes:
        if size < 0:
            raise ValueError("negative argument not allowed")
        thread = scheduler.present()
        stream = _streams.get(thread.hash)
        if stream is None:
            stream = _streams[thread.hash] = Generator(sum(_begun, seed) ^ thread.hash ^ _branch)
        words = b"".join(stream.next().to_bytes(8, "little") for _ in range((size + 7) // 8))
        return words[:size]

    def getrandom(size: int, flags: int = 0) -> bytes:
        return urandom(size)

    return {"urandom": urandom, "getrandom": getrandom}


def adapt_random(module: Any) -> None:
    """Seed the generators of module ``random`` that are seeded from the operating system."""
    real_seed, real_setstate = module.Random.seed, module.Random.setstate

    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        real_seed(self, int.from_bytes(os.urandom(32), "big") if a is None else a, version)
        if self is module._inst:
            _module[:] = [module] if a is None else []

    def setstate(self: Any, state: Any) -> None:
        real_setstate(self, state)
        if self is module._inst:
            _module.clear()

    seed.__module__ = setstate.__module__ = real_seed.__module__
    module.Random.seed, module.Random.setstate = seed, setstate
    module._urandom = os.urandom
    module.seed, module.setstate = module._inst.seed, module._inst.setstate
    module.seed()
    # If the module is loaded later than now, it seeds from the system's entropy after `go_on_in_child`.
    os.register_at_fork(after_in_child=module.seed)
    _reseeds[:] = [module.seed]


def adapt_uuid(module: Any) -> None:
    """Let ``uuid.uuid1`` be made in Python, from the clock and from entropy of ours, not by the system's library."""
    module._generate_time_safe = module._UuidCreate = None


def adapt_random_bytes(module: Any) -> None:
    """Let ``ssl.RAND_bytes`` be drawn from ``os.urandom``, not by OpenSSL. What OpenSSL itself needs stays its own."""

    def RAND_bytes(n: int, /) -> bytes:
        if n < 0:
            raise ValueError("num must be positive")
        return os.urandom(n)

    module.RAND_bytes = module._ssl.RAND_bytes = staticmethod(RAND_bytes)  # as a function of C, it is never a method


def fix_entropy_of_libraries(key: bytes, date_ns: int, main: int) -> None:
    """Let libraries in C and Rust draw random numbers from a key; see ``accelerator/library_entropy.py``.

    Args:
        key: 32 bytes.
        date_ns: the date that OpenSSL mixes into its random numbers, in nanoseconds since 1970; -1 for the real one.
        main: the hash of the main thread, which calls this.
    """
    if not seed_libraries(key, date_ns):
        return
    seed_thread(main)
    import _frozen_importlib_external

    loader: Any = _frozen_importlib_external.ExtensionFileLoader
    real = loader.create_module

    def create_module(self: Any, spec: Any) -> Any:
        path = spec.origin
        cover_libraries(path if type(path) is str and "/" in path else None)
        return real(self, spec)

    hide_frames_of(create_module)
    loader.create_module = create_module


def adapt_foreign_libraries(module: Any) -> None:
    """Cover what the program loads through ``ctypes``."""
    real = module._dlopen

    def _dlopen(*arguments: Any) -> Any:
        handle = real(*arguments)
        cover_libraries(None)
        return handle

    module._dlopen = _dlopen
