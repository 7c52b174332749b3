"""File, socket and process operations as yield points.

The interpreter raises audit events for them, whoever calls them. Each event in the table below is a
yield point of the counted code that caused it, at every granularity.
"""

from __future__ import annotations

import os
import sys

from ..channel import NOTE
from ..observing import absolute, is_a, type_name
from .asking import only_asks, words_of
from .early_stop import OCCASIONS
from .shared_things import (
    ABOUT_FILES,
    TWO_PATHS,
    WRITING,
    SharedThings,
    changed_paths,
    changes,
    fixed_port,
    is_in_vain,
    is_our_own,
    is_path,
    keeps_bytecode,
    lies_in,
    path_in_words,
    path_of,
)

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.scheduler import Scheduler
    from .early_stop import EarlyStop

EVENTS = frozenset(
    {
        *(
            "open",
            "os.remove",
            "os.rename",
            "os.mkdir",
            "os.rmdir",
            "os.link",
            "os.symlink",
            "os.truncate",
            "os.listdir",
        ),
        *("os.scandir", "os.chmod", "os.utime", "fcntl.flock", "fcntl.lockf", "sqlite3.connect", "subprocess.Popen"),
        *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
    }
)


_EFFECTS = EVENTS - {"os.listdir", "os.scandir", "socket.getaddrinfo"}
_FILES_AND_SOCKETS = _EFFECTS - {"subprocess.Popen"}
_STARTS = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"})
_LONGEST_COMMAND = 100
_TRACING = frozenset({"sys.settrace", "sys.setprofile"})
_HEARD = EVENTS | _STARTS | _TRACING | OCCASIONS


def touched_outside(event: str, arguments: tuple[object, ...]) -> list[tuple[str, bool]]:
    """What an audit event announces: for each file or address its name, and whether it may be changed."""
    changed = changes(event, arguments)
    named = arguments[: 2 if event in TWO_PATHS else 1]
    return [(name_of_file(one) or type_name(one), changed) for one in named]


def name_of_file(argument: object) -> str:
    """The name of a file that is given by its path; nothing if this is no path."""
    if is_path(argument):
        return absolute(path_in_words(argument))
    return absolute(os.fsdecode(path_of(argument))) if is_a(argument, (str, bytes)) else ""


def watch_events(
    scheduler: Scheduler,
    program_traces: Callable[[], None],
    harmless: set[str],
    effects: list[str],
    early: EarlyStop,
    about_to_change: Callable[[], None] | None,
) -> None:
    """Make each audit event of the table a yield point, and report what runs at the same time would fight over.

    Args:
        scheduler: who hands the baton around.
        program_traces: called when somebody is about to set or remove a trace function or a profiler.
        harmless: files that copies of the process may share.
        effects: gets an entry when the program, before its first thread, does something that copies of the process
            would not do again.
        early: hears of what the program does before its first thread.
        about_to_change: called when the program is about to change a file, if anybody wants to know.
    """
    temporary = os.environ.get("TMPDIR", "") + os.sep  # of this run alone
    shared = SharedThings(scheduler, temporary)
    noted: set[str] = set()

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event not in _HEARD:
            return  # at once: observing makes thousands of others, as it looks at frames
        frame = sys._getframe().f_back
        early.hear(event, arguments)
        if about_to_change is not None and event in ABOUT_FILES and changes(event, arguments) and not is_our_own(frame):
            about_to_change()
        if early.has_stopped:
            shared.tell_changed(event, arguments, frame, early.was_read)
            note_change(event, arguments)
        starts = event in _STARTS and not only_asks(event, arguments, frame)
        if (starts or event in _FILES_AND_SOCKETS) and not effects and not scheduler.counting:
            note_effect(event, arguments)
        if event in _STARTS:
            scheduler.moments.patience.starts_processes = True
        if starts:
            note_python(event, arguments)
        if event not in EVENTS or scheduler.over or scheduler.present().atomic:
            if event in _TRACING:
                program_traces()
            return
        if event in _EFFECTS:
            shared.look(event, arguments, frame)
        if scheduler.counting:
            note_change(event, arguments)
            scheduler.outside = (event, arguments)
            scheduler.outside_events += 1
            scheduler.operation(frame)
            scheduler.outside = None

    def note_change(event: str, arguments: tuple[object, ...]) -> None:
        if event in _EFFECTS and not scheduler.has_effects:
            scheduler.has_effects = changes(event, arguments) and not _lies_all_in(temporary, event, arguments)

    def note_python(event: str, arguments: tuple[object, ...]) -> None:
        text = " ".join(words_of(event, arguments))[:_LONGEST_COMMAND]
        if any(os.path.basename(word).startswith("python") for word in text.split()) and event not in noted:
            noted.add(event)
            scheduler.send(
                NOTE,
                "python",
                f"another Python that it starts is not under control; `--process NAME` chooses it ({text})",
            )

    def note_effect(event: str, arguments: tuple[object, ...]) -> None:
        path = path_in_words(arguments[0]) if arguments else ""
        if path in harmless or keeps_bytecode(event, arguments):
            return
        if (
            _ends_with_its_socket(event, arguments)
            or _is_a_pipe(event, arguments, path)
            or is_in_vain(event, arguments)
        ):
            return
        if _lies_all_in(temporary, event, arguments):  # the tool puts them back
            return
        if event == "socket.bind" and fixed_port(arguments[1]):
            effects.append(f"it took port {fixed_port(arguments[1])} before its first thread")
        elif event in _STARTS:
            command = " ".join(words_of(event, arguments))[:_LONGEST_COMMAND]
            effects.append(f"it started `{command}` before its first thread")
        elif event != "open":
            effects.append(f"it did {event} before its first thread")
        elif type(arguments[2]) is int and arguments[2] & WRITING:
            effects.append(f"it wrote {path} before its first thread")

    sys.addaudithook(audit)


def _lies_all_in(directory: str, event: str, arguments: tuple[object, ...]) -> bool:
    """Whether an event is about nothing but files in this directory, which is none if its name is empty, or no file."""
    if event not in ABOUT_FILES:
        return False
    paths = changed_paths(event, arguments)
    if not paths:
        return event == "sqlite3.connect"  # a database in memory
    return directory != os.sep and all(lies_in(path + os.sep, directory) for path in paths)


def _ends_with_its_socket(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether nothing is left of it once the socket is closed, and nobody else has noticed."""
    if event == "socket.connect":
        from _socket import SOCK_DGRAM, socket  # only now: the program has it

        return bool(socket.type.__get__(arguments[0]) == SOCK_DGRAM)  # which sends nothing
    return event == "socket.bind" and type(arguments[1]) is tuple and not fixed_port(arguments[1])


def _is_a_pipe(event: str, arguments: tuple[object, ...], path: str) -> bool:
    """Whether it makes a stream of a pipe: as long as that is open, or a process is at its end, they are seen."""
    return event == "open" and type(arguments[0]) is int and path.startswith("pipe:[")
