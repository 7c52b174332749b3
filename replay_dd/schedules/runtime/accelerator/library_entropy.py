"""Random numbers that libraries in C and Rust get from the system, such as the keys and signatures of ``cryptography``.

How long a signature or a key exchange is, and which way a program goes, may follow such numbers. So a library draws
them from a key that the log contains, and each thread has a stream of its own.

Rules of this module:

* The key is made anew for each recording. Unlike what ``os.urandom`` gives under the schedule, what is drawn from it
  cannot be guessed by others, as it may protect a real connection. Whoever has the log has the key.
* OpenSSL as the standard library uses it (``ssl``, ``hashlib``) keeps the system's random numbers.
* A library is covered after it is loaded and before it is initialised.
"""

from __future__ import annotations

from . import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _nothing(*arguments: Any) -> None:
    pass


def _false(*arguments: Any) -> bool:
    return False


# Called by a thread of the program, with its hash, before it runs: from now on it draws from a stream of its own.
seed_thread: Any = _nothing if accelerator is None else accelerator.seed_thread
# Called by a copy of the process that goes on as the program.
seed_process: Any = _nothing if accelerator is None else accelerator.seed_process


# seed_libraries(key, date): from now on libraries draw from this key of 32 bytes. Those with OpenSSL built in are told
# the date, in nanoseconds since 1970; -1 for the real one. False where that is impossible.
seed_libraries: Any = _false if accelerator is None else accelerator.seed_libraries
# cover_libraries(path): cover all that are loaded, and this one, which will be; None for none.
cover_libraries: Any = _nothing if accelerator is None else accelerator.cover_libraries


def library_that_drew() -> str:
    """The file name of the first library that drew more than a seed for hash tables; empty if none did."""
    return "" if accelerator is None else accelerator.library_that_drew()
