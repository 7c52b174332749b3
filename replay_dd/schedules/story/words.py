"""Accesses, values and things in words.

Rules of this module:

* Values of built-in types are shown in short. Other objects get the name of their type and a letter, the same one
  wherever the same object occurs in one story.
"""

from __future__ import annotations

from collections.abc import Iterable

from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Access, StackFrame, Value

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OF_FOLDERS = ("os.mkdir", "os.rmdir", "mkdir", "rmdir", "isdir", "is_dir", "iterdir")
_IN_EACH_PACKAGE = ("__init__.py", "__main__.py")


def short_file(file: str) -> str:
    """The name of a file in a few letters; one that each package has comes with its folder.

    Args:
        file: its name, as in the places of a log.
    """
    folder, _, name = file.rpartition("/")
    return f"{folder.rpartition('/')[2]}/{name}" if folder and name in _IN_EACH_PACKAGE else name


def with_article(noun: str) -> str:
    """A noun with the indefinite article.

    Args:
        noun: such as the name of a type.
    """
    return f"{'an' if noun[:1] in 'aeiouAEIO' else 'a'} {noun}"


class Letters:
    """Names the objects of one story by their types and letters."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._taken: dict[str, int] = {}

    def name(self, kind: str, number: int) -> str:
        """The name of an object."""
        known = self._names.get((kind, number))
        if known is None:
            count = self._taken.get(kind, 0)
            self._taken[kind] = count + 1
            letter = _LETTERS[count] if count < len(_LETTERS) else str(count + 1)
            known = self._names[(kind, number)] = f"{kind} {letter}"
        return known

    def value(self, value: Value) -> str:
        """A value in words."""
        if value.text:
            return value.text
        return self.name(value.type, value.number) if value.type else "?"

    def does(self, access: Access) -> str:
        """What an access does and finds, such as ``stores 110 over 130``."""
        old, new = access.old, access.new
        if access.does == "checks":
            return self._checks(access)
        if access.does == "stores":
            replaced = self.value(old) if old.is_known and not old.is_missing else ""
            if not new.is_known:
                return f"replaces {replaced}" if replaced else "stores a value"
            return f"stores {self.value(new)}{f' over {replaced}' if replaced else ''}"
        if access.does == "deletes" and access.is_weak:
            return f"lets go of {self.value(old)}, to which nothing else refers"
        if access.does == "deletes":
            return f"deletes {self.value(old)}" if old.is_known else "deletes it"
        if access.does == "iterates":
            what = "begins to go through" if access.detail else "takes the next of"
            return f"{what} {self.value(old) if old.is_known else 'it'}"
        if access.does == "calls":
            return self._calls(access)
        if access.does == "gives up":
            return "its time-out expires"
        if access.does in ("acquires", "wants"):
            return f"{access.does} {access.name}"
        if access.thing[0] == "file":
            found = ": is not there" if old.is_missing else ": is there already" if old.text == "True" else ""
            return (access.detail or access.does) + found
        found = self.value(old) if old.is_known else "it"
        if access.detail:
            return f"{access.detail}: {found}" if old.is_known else access.detail
        if old.is_missing:
            return "finds nothing there"
        return f"finds {found}" if access.tested else f"reads {found}"

    def _checks(self, access: Access) -> str:
        what = access.thing[2] or access.detail.removesuffix(" in") or "it"
        if access.old.text == "True":
            return f"{what} is there"
        return f"{what} is not there" if access.old.text == "False" else f"checks for {what}"

    def _calls(self, access: Access) -> str:
        text = access.detail
        if access.thing[0] == "whole" and text.startswith("remove(") and access.in_vain:
            return f"{text}: it is not there"
        if access.holder_type == "generator" and access.old.is_missing:
            return f"{text}: it is running already"
        if access.thing[0] in ("file", "object") and access.old.is_missing:
            return (
                f"{text}: it is closed"
                if access.thing[0] == "object" or access.new.is_missing
                else f"{text}: is not there"
            )
        if access.thing[0] == "file" and access.old.text == "True":
            return f"{text}: is there"
        if access.reads and access.old.is_known and access.thing[0] in ("item", "whole"):
            found = self.value(access.old)
            if access.thing[0] == "item":
                text += f": {found}"
            elif "of" not in access.old.text:
                text += f" of {found}"
        if access.thing[0] == "object" and access.old.is_known:
            call, space, when = text.partition(" at the end")
            text = f"{call} of {_state(access)}{space}{when}"
        unchanged = access.old.same(access.new) and "of" not in access.new.text  # told in full, as if it has failed
        if access.writes and access.thing[0] == "whole" and access.new.is_known and not unchanged:
            text += f", then {self.value(access.new)}"
        return text


def letters_of(accesses: Iterable[Access]) -> Letters:
    """The names that the objects of these accesses get when they are told in this order."""
    letters = Letters()
    for access in accesses:
        letters.does(access)
    return letters


def _state(access: Access) -> str:
    """What a call finds in an object of the library."""
    text = access.old.text
    if access.old.type == "bool":
        return "an event that is set" if text == "True" else "an event that is not set"
    if access.old.type == "int" and "Semaphore" in access.holder_type:
        return f"a semaphore at {text}"
    if access.old.type == "int":
        return f"a queue with {text} in it" if text != "0" else "an empty queue"
    return text.strip("'").lower()


def described(access: Access) -> str:
    """What kind of thing this is, such as ``attribute of one Account``."""
    sort, _, key = access.thing
    kind = access.holder_type
    if sort == "attribute":
        return f"attribute of {'the class' if kind == 'type' else 'the module' if kind == 'module' else f'one {kind}'}"
    if kind == "WholeProcess":
        return "of the whole process"
    if access.is_weak and kind == "ReferenceType":
        return "what a weak reference refers to"
    if access.is_of_memoised:
        return "a result that is kept"
    if sort == "item":
        return f"item of one {kind}"
    if sort == "whole":
        return f"one {kind}"
    if sort == "global":
        return f"global variable of {kind or access.place.file}"
    if sort == "cell":
        return f"variable that functions in {access.place.function.partition('.')[0]} share"
    if sort == "object":
        return f"one {kind}"
    if sort == "file":
        return "a folder" if access.detail.partition("(")[0] in _OF_FOLDERS else "a file"
    return {
        "database": "by SQL",
        "local": "which each thread has for itself",
        "lock": "a lock",
        "process": "of the whole process",
    }.get(sort, key)


def at_place(place: Place | StackFrame) -> str:
    """Where it is in the source, in short."""
    return f"{short_file(place.file)}:{place.line}"


def listed(words: Iterable[str]) -> str:
    """A list in words: ``a``, ``a and b``, ``a, b and c``."""
    *most, last = [*words] or [""]
    return f"{', '.join(most)} and {last}" if most else last
