"""Processes that only ask something: where a library is, which version a repository has. Nobody need ask again.

Copies of a program do not repeat what it did before it was copied. Of a process that it started, what it changed cannot
be known, so all but those told here count as changing something.
"""

from __future__ import annotations

import os

from ..points.frames import RUNTIME
from .shared_things import path_in_words

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_STANDARD_LIBRARY = os.path.dirname(os.__file__) + os.sep
_SUBPROCESS = _STANDARD_LIBRARY + "subprocess.py"
# Modules of the standard library that start processes only to ask the system something.
_ASKING = frozenset(_STANDARD_LIBRARY + name for name in ("ctypes/util.py", "platform.py", "uuid.py"))
_READERS = _set_of(
    "arch cat df du echo file free getconf groups head id locale ls lsb_release lscpu nproc ps pwd readlink realpath "
    "stat sw_vers tail uname uptime wc which whoami"
)
# Their subcommands that change nothing, whatever follows them but an option to write into a file.
_SUBCOMMANDS = {
    "git": _set_of(
        "blame cat-file describe diff diff-index diff-tree for-each-ref grep log ls-files ls-tree merge-base name-rev "
        "rev-list rev-parse shortlog show show-ref status var version"
    ),
    "hg": _set_of("cat diff files heads id identify log manifest parents path paths root status tip version"),
    "svn": _set_of("cat diff info list log ls status"),
}
_BEFORE_A_PLACE = frozenset({"-C", "-c", "--cwd", "-R"})  # options of these, each followed by what it is set to
_TO_A_FILE = ("-o", "--output")
_VERSIONS = frozenset({"--version", "-version", "-V", "--help"})


def only_asks(event: str, arguments: tuple[object, ...], frame: FrameType | None) -> bool:
    """Whether a process that is about to be started only asks something.

    Args:
        event: the audit event that announces it.
        arguments: those of the event.
        frame: where it is started.
    """
    if event == "os.system":
        return False  # what a shell makes of it is not ours to tell
    while frame is not None and frame.f_code.co_filename.startswith((_SUBPROCESS, RUNTIME)):
        frame = frame.f_back
    if frame is not None and frame.f_code.co_filename in _ASKING:
        return True
    name = os.path.basename(path_in_words(arguments[0]))  # the first word may be another
    words = words_of(event, arguments)[1:]
    if name in _READERS or (len(words) == 1 and words[0] in _VERSIONS):
        return True
    if any(word.startswith(_TO_A_FILE) for word in words):
        return False
    return name in _SUBCOMMANDS and _subcommand(words) in _SUBCOMMANDS[name]


def words_of(event: str, arguments: tuple[object, ...]) -> list[str]:
    """The words of the command that an audit event announces; of a shell's, the whole text is one."""
    command = arguments[0] if event == "os.system" else arguments[1]
    words = command if isinstance(command, (list, tuple)) else [command]
    return [path_in_words(word) for word in words]


def _subcommand(words: list[str]) -> str:
    waiting = iter(words)
    for word in waiting:
        if word in _BEFORE_A_PLACE:
            next(waiting, None)
        elif not word.startswith("-"):
            return word
    return ""
