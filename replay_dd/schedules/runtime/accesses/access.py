"""An access to something that other threads may see."""

from __future__ import annotations

from .values import UNKNOWN

READS, STORES, DELETES, CHECKS, CALLS, ITERATES = "reads", "stores", "deletes", "checks", "calls", "iterates"
ACQUIRES, GIVES_UP, WANTS = "acquires", "gives up", "wants"
ATTRIBUTE, ITEM, WHOLE, GLOBAL, CELL, FILE, DATABASE, OBJECT, LOCK, PROCESS, LOCAL = (
    *("attribute", "item", "whole", "global", "cell", "file", "database", "object", "lock", "process", "local"),
)


class Access:
    """An access to something shared.

    Attributes:
        does: what the instruction does, in a word.
        sort: attribute, item, whole (of a container), global, cell, file, database, object, lock, process, local (what
            a thread has of a thread-local object).
        holder: the object that has the attribute or the item; the object itself for ``whole`` and ``object``.
        key: the name of the attribute or variable, the text of the key, the path of the file.
        name: as a person would call it.
        reads, writes: whether it does either.
        old: the value that it finds.
        new: the value that it leaves; UNKNOWN where that is seen only afterwards.
        detail: the method that is called, with its arguments in short.
        again: what tells the new value afterwards, or None.
        before: what a container held, where only that tells afterwards whether it was changed; or None.
        looked_up: the key in a subscript that reads, or stores late; UNKNOWN elsewhere.
        late: whether the item is stored only after functions of the program have run, which tell the hash of its key
            or compare it.
        fills: whether the library stores an item or attribute there if it finds none.
        asks: (the event loop that is asked to do it later, whose method it calls, the method in short), or None.
        asked: (the thread that asked an event loop to do it, its thread time then), or None.
    """

    __slots__ = (
        *(
            "again",
            "asked",
            "asks",
            "before",
            "detail",
            "does",
            "fills",
            "holder",
            "key",
            "late",
            "looked_up",
            "name",
            "new",
            "old",
            "reads",
            "sort",
        ),
        "writes",
    )

    def __init__(self, does: str, sort: str, holder: object, key: str, name: str) -> None:
        self.does, self.sort, self.holder, self.key, self.name = does, sort, holder, key, name
        self.reads = does in (READS, CHECKS, ITERATES)
        self.writes = does in (STORES, DELETES)
        self.old: object = UNKNOWN
        self.new: object = UNKNOWN
        self.detail = ""
        self.again: object = None
        self.before: object = None
        self.looked_up: object = UNKNOWN
        self.fills = self.late = False
        self.asks: tuple[object, object, str] | None = None
        self.asked: tuple[str, int] | None = None
