"""The loops of functions, and what may end them.

Rules of this module:

* A `for` loop ends with its iterator.
* Code that asks for something outside the process may end a loop by the answer; so may a random number, since the state
  from which it comes stays unseen. Both are known by the names that the code uses.
"""

from __future__ import annotations

from ..compat import BACKWARD_JUMPS, NAMES
from ..points.bytecode import instructions

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

_ASKING = (
    "accept access connect disk_usage execute exists fetchall fetchone getctime getloadavg getmtime getppid getrusage "
    "getsize glob iglob input is_dir is_fifo is_file is_mount is_socket is_symlink isdir isfile islink ismount kill "
    "lexists listdir lstat open owner pid_exists poll Popen read readline readlines readlink recv recv_into requests "
    "samefile scandir select send socket stat statvfs subprocess urlopen wait3 wait4 waitpid walk which"
)
_DRAWING = "choice choices expovariate getrandbits randint random randrange sample shuffle token_bytes uniform urandom"
_OUTSIDE = frozenset(f"{_ASKING} {_DRAWING}".split())


class Loops:
    """Knows the loops of each function that it was asked about."""

    def __init__(self) -> None:
        self._of: dict[CodeType, list[tuple[int, int, bool]]] = {}

    def may_be_left(self, frame: FrameType) -> bool:
        """Whether what a function asks outside may end its loop, or the innermost loop there is a `for` loop."""
        return asks_outside(frame.f_code) or self.innermost(frame) is True

    def innermost(self, frame: FrameType) -> bool | None:
        """Whether the innermost loop at the place of a frame is a `for` loop; None if there is no loop."""
        code = frame.f_code
        if code not in self._of:
            self._of[code] = _loops(code)
        around = [loop for loop in self._of[code] if loop[0] <= frame.f_lasti < loop[1]]
        return min(around, key=lambda loop: loop[1] - loop[0])[2] if around else None


def asks_outside(code: CodeType) -> bool:
    """Whether code uses a name of something that asks outside the process, or for a random number."""
    return not _OUTSIDE.isdisjoint(code.co_names)


def _loops(code: CodeType) -> list[tuple[int, int, bool]]:
    """Where each loop begins and ends, and whether it goes over an iterator."""
    listing = instructions(code)
    names: dict[int, str] = {}
    begin = 0
    for _, operation, _, end in listing:
        names[begin] = NAMES[operation]
        begin = end
    found = []
    for _, operation, argument, end in listing:
        if operation in BACKWARD_JUMPS and NAMES[operation] != "JUMP_BACKWARD_NO_INTERRUPT":  # that one awaits
            target = end - 2 * argument
            found.append((target, end, names.get(target) == "FOR_ITER"))
    return found
