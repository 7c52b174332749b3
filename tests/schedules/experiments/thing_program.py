"""A program whose accesses are to be locked, and what its threads have done."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation, StackFrame
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.virtual import Region
from tests.schedules.experiments.fakes import access

TEXT = """\
class Thing:
    def update(self):
        before = self.get()
        after = before + 1

        self.put(after)
        return after
    def get(self):
        return self.value
    def put(self, value):
        with self.lock:
            self.value = value
    def both(self):
        for _ in range(2):
            self.update()
    def reset(self):
        self.lock.acquire()
        self.value = 0
        self.lock.release()
        self.other = 0
"""
UPDATE, GET, PUT, RESET = "Thing.update", "Thing.get", "Thing.put", "Thing.reset"
LOCK = 7
READ = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 3), (GET, 9))
WRITE = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 6), (PUT, 12), does="stores", held=(LOCK,))
OTHER = access("0.2", ("work", 91), (RESET, 18), does="stores", held=(LOCK,))
UNGUARDED = access("0.2", ("work", 91), (RESET, 20), does="stores")
TAKES = access("0.2", ("work", 91), (RESET, 17), ("-acquire", 1), does="acquires", thing=("lock", LOCK, ""))


def replace_line(frame: StackFrame, line: int, function: str) -> StackFrame:
    return frame._replace(line=line, function=function)


def region(function: str, first: int, last: int = 0) -> Region:
    return Region("prog.py", function, first, last or first)


def conflict(left: Access | None, right: Access | None, *others: Access) -> Conflict:
    edges = [None if one is None else Edge(one, others, False) for one in (left, right)]
    return Conflict("0.1", edges[0], edges[1], None, others, (), ())


def seen(*accesses: Access) -> tuple[Observation, Observation]:
    return Observation(accesses, {LOCK: "Thing.lock"}), Observation((), {})
