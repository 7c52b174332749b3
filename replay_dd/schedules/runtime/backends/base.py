"""How yield points are noticed: one interface, a back end for each kind of interpreter.

A back end calls back before each yield point of counted code: it adds one to the running thread's time, folds the place
into the digest, and asks the scheduler when the strategy's next question is due. It is switched on when the program
starts its first thread, so that imports and set-up cost nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType


class Backend:
    """Notices yield points. This base notices none.

    It serves granularity ``sync``, where operations are the only yield points: they tell the scheduler themselves.
    """

    name = "operations"

    def prepare(self, frame: FrameType | None) -> None:
        """Find out what does not depend on the run, perhaps before a copy of this process is made for each.

        Args:
            frame: the innermost function that runs already.
        """

    def begin(self) -> None:
        """Start to count, in the calling thread and in all that start later."""

    def thread_started(self) -> None:
        """Called in each new thread, before its function."""

    def program_traces(self) -> None:
        """The program is about to set or remove a trace function or a profiler."""

    def end(self) -> None:
        """Stop to count."""
