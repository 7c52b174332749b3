"""Does the hunts of one run of pytest, in a process of its own.

Rules of this module:

* It is asked for one thing at a time, and answers once. Ctrl-C comes from pytest's process, and only counts while
  something is under way.
* It ends when pytest does, whatever ends that.
* What hunting needs is loaded when the first hunt is asked for: most runs with ``--replay-dd-on-failure`` need none.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import threading
from typing import TYPE_CHECKING, Any

from replay_dd.pytest_plugin.progress_line import ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = 8  # bytes


def main(asked: int, answers: int, terminal: int) -> None:
    """Answer until pytest hangs up.

    Args:
        asked: descriptor to read from: first what the hunts are made of, which is not answered; then requests, each the
            name of a function, its arguments, and how many columns there are to show progress in.
        answers: descriptor to write to.
        terminal: descriptor of the terminal to show progress at; negative for none.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(answers,), daemon=True).start()
    about = read_message(asked, os.read)
    progress = ProgressLine(terminal)
    hunts: Any = None
    while (request := read_message(asked, os.read)) is not None:
        name, arguments, room = request
        progress.begin(room)
        answer: tuple[bool, Any]
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            hunts = hunts or _hunts(*about, progress.show)
            answer = True, getattr(hunts, name)(*arguments)
        except BaseException as error:
            answer = False, f"{type(error).__name__}: {error}"
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        progress.end()
        write_message(answers, answer, os.write)
    if hunts is not None:
        hunts.close()


def read_message(descriptor: int, read: Callable[[int, int], bytes]) -> Any:
    """The next message; None at the end."""
    length = _read(descriptor, _LENGTH, read)
    data = _read(descriptor, int.from_bytes(length, "little"), read) if length else b""
    return pickle.loads(data) if data else None


def write_message(descriptor: int, message: Any, write: Callable[[int, bytes], int]) -> None:
    """Write a message that :func:`read_message` reads."""
    data = pickle.dumps(message)
    data = len(data).to_bytes(_LENGTH, "little") + data
    while data:
        data = data[write(descriptor, data) :]


def _read(descriptor: int, length: int, read: Callable[[int, int], bytes]) -> bytes:
    data = b""
    while len(data) < length:
        part = read(descriptor, min(length - len(data), 1 << 20))
        if not part:
            return b""
        data += part
    return data


def _hunts(*arguments: Any) -> Any:
    from replay_dd.pytest_plugin.hunts_at_work import HuntsAtWork

    return HuntsAtWork(*arguments)


def _end_with(answers: int) -> None:
    """End this process once nobody can read its answers any more; what it has begun is cleaned up by its guard."""
    poll = select.poll()
    poll.register(answers, 0)
    poll.poll()
    os._exit(1)
