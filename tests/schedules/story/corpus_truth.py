"""What is right of a corpus of bugs as people write them, noted before the tool had seen any of them.

The programs say what they do, not what is wrong with them, so that a report can be tried on a reader who does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from replay_dd.schedules.story.story import Story

PROGRAMS = Path(__file__).parent / "corpus"


@dataclass(frozen=True)
class Truth:
    """What a right answer says.

    Attributes:
        kinds: the kind; the first is the best word, the others are right as well.
        things: what the threads share, all of which must be named.
        one, other: parts of source lines that must be among the accesses of two different threads; where a bar stands
            between two parts, one of them is enough.
        also: what may be named beside the things.
    """

    kinds: str
    things: str
    one: tuple[str, ...]
    other: tuple[str, ...]
    also: str = ""


TRUTH = {
    "agenda": Truth(
        "check-then-act", "Agenda._entries", ("return bool(self._entries)", "heapq.heappop("), ("heapq.heappop(",)
    ),
    "audit": Truth(
        "torn update|torn read",
        "Account.balance",
        ("giver.balance -= amount", "taker.balance += amount"),
        ("result += account.balance",),
    ),
    "average": Truth(
        "torn read|torn update",
        "Meter._sum, Meter._count",
        ("return self._sum", "return self._count"),
        ("self._sum += value", "self._count += 1"),
    ),
    "catalog": Truth(
        "read before initialisation",
        "Catalog.loaded, Catalog.prices",
        ("self.loaded = True", "self.prices = dict("),
        ("if self.loaded:", "return self.prices[name]"),
    ),
    "chat": Truth(
        "modified while iterated|non-repeatable read",
        "Room._members",
        ("for member in self._members:",),
        ("self._members.add(member)",),
    ),
    "dbpool": Truth(
        "use after close or invalidation",
        "connection|the database",
        ("row = connection.execute(",),
        ("connection.close()",),
    ),
    "directory": Truth(
        "torn update",
        "Directory._by_name['bob'], Directory._by_number|Directory._by_number[2]",
        ("self._by_number[person.number] = person", "self._by_name[self._key(person.name)] = person"),
        ("return [self._by_name[",),
        "Directory._by_name",
    ),
    "diskcache": Truth(
        "check-then-act", "greeting.txt", ("if not os.path.exists(path):", "with open(path) as file:"), ("os.remove(",)
    ),
    "fonts": Truth(
        "check-then-act|use after close or invalidation",
        "FontStore._fonts",
        ("if name in self._fonts:", "return self._fonts[name]"),
        ("self.font = None",),
    ),
    "groups": Truth(
        "check-then-act", "Grouping.groups['a']", ("self.groups[word[0]].add(word)",), ("self.groups[word",)
    ),
    "invoices": Truth(
        "lost update|check-then-act",
        "the database",
        ("SELECT MAX(number)", "INSERT INTO invoice VALUES (?, ?)"),
        ("INSERT INTO invoice VALUES (?, ?)",),
    ),
    "journal": Truth(
        "order violation", "Journal._queue", ("self._queue.put(self._line(text))",), ("self._queue.put(_STOP)",)
    ),
    "language": Truth(
        "overwritten before use|lost update|non-repeatable read",
        "Translator.language|translator.language",
        ("translator.language = language", "return CATALOGUE[self.language][key]"),
        ("translator.language = language|translator.language = previous",),
    ),
    "leases": Truth(
        "check-then-act",
        "Office.leased['north']|Office.leased['south']",
        ("if room in self.leased:", "{self.leased[room]}|del self.leased[room]"),
        ("del self.leased[room]",),
    ),
    "logfile": Truth(
        "use after close or invalidation",
        "0.log|RotatingLog._stream",
        ("stream.write(line)",),
        ("self._stream.close()",),
    ),
    "mailbox": Truth(
        "condition not checked again after the wait|check-then-act",
        "Mailbox._letters",
        ("if not self._letters:", "return self._letters.pop(0)"),
        ("return self._letters.pop(0)",),
    ),
    "patching": Truth(
        "interleaved save and restore",
        "Application.clock",
        ("self.saved = Application.clock", "Application.clock = self.saved"),
        ("Application.clock = self.saved|Application.clock = Clock",),
    ),
    "paging": Truth(
        "non-repeatable read", "Table.rows", ("return self.rows[offset : offset + limit]",), ("self.rows.remove(row)",)
    ),
    "plugins": Truth(
        "check-then-act", "_registry", ("if _registry is None:", "_registry = Registry("), ("_registry = Registry(",)
    ),
    "progress": Truth(
        "torn update|torn read",
        "Progress.finished, Progress.percent",
        ("self.finished += 1", "self.percent = self.compute()"),
        ("parts = self.progress.finished", "percent = self.progress.percent"),
    ),
    "promise": Truth(
        "check-then-act",
        "Promise._fulfilled, Promise._callbacks",
        ("if self._fulfilled:", "self._callbacks.append(callback)"),
        ("self._fulfilled = True", "for callback in self._callbacks:"),
    ),
    "sensors": Truth(
        "read before initialisation", "Thermometer.scale", ("self.scale = scale",), ("return raw * self.scale",)
    ),
    "throttle": Truth(
        "lost update",
        "Throttle._remaining",
        ("left = self._remaining - ", "self._remaining = left"),
        ("self._remaining = left",),
    ),
    "statefile": Truth(
        "use after close or invalidation", "state.json.tmp", ("os.rename(temporary,",), ("os.rename(temporary,",)
    ),
    "thumbnails": Truth(
        "check-then-act",
        "LRU._data['sea']|LRU._data",
        ("if key not in self._data:|self._data.move_to_end(key)", "self._data.move_to_end(key)|return self._data[key]"),
        ("self._data.popitem(last=False)",),
    ),
    "upload": Truth(
        "check-then-act",
        "Upload.state",
        ('if self.state == "running":', 'self.state = "finished"|self.state = "aborted"'),
        ('if self.state == "running":|self.state = "finished"|self.state = "aborted"',),
    ),
    "votes": Truth("lost update", "Tally._total", ("return self._total", "self._total = value"), ("= value",)),
    "wakeup": Truth(
        "missed notification",
        "Printer._work|printer._work",
        ("self._work.clear()",),
        ("self._work.set()",),
        "Printer.pages",
    ),
    "warehouse": Truth(
        "lock-order deadlock",
        "left._lock, middle._lock, right._lock",
        ("self._lock.acquire()",),
        ("self._lock.acquire()",),
    ),
    "weather": Truth("early time-out", "Forecast.inbox", ("self.inbox.get(timeout=timeout)",), ("self.inbox.put(",)),
    "wordcount": Truth(
        "lost update",
        "Index.counts['the']|Index.counts['dog']",
        ("return self.counts[key] + 1", "self.counts[key] = self.bump(key)"),
        ("self.counts[key] = self.bump(key)",),
    ),
}


def faults_of(story: Story, truth: Truth, source: list[str]) -> list[str]:
    """What of a story is not as it should be."""
    faults = []
    if story.kind not in truth.kinds.split("|"):
        faults.append(f"kind: {story.kind}")
    names = {thing.name.removesuffix(f" {letter}") for thing in story.things for letter in "ABC"}
    names = {name for name in names if not name.endswith((" A", " B", " C"))}
    wanted = [set(one.split("|")) for one in truth.things.split(", ")]
    known = set().union(*wanted) | set(truth.also.split(", "))
    named = {
        one for name in names for one in (name, name.partition("[")[0])
    }  # an item is more exact than its container
    if not all(one & named for one in wanted) or not all({name, name.partition("[")[0]} & known for name in names):
        faults.append(f"things: {sorted(names)}")
    lines: dict[str, str] = {}
    for turn in story.turns:
        if not turn.path:
            faults.append(f"no call path for thread {turn.thread}")
        told = [source[step.access.place.line - 1] for step in turn.steps]
        lines[turn.thread] = "\n".join([lines.get(turn.thread, ""), *told])

    def holds(thread: str, parts: tuple[str, ...]) -> bool:
        return all(any(one in lines[thread] for one in part.split("|")) for part in parts)

    if not any(holds(a, truth.one) and holds(b, truth.other) for a in lines for b in lines if a != b):
        faults.append("accesses")
    return faults
