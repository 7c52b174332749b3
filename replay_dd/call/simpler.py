"""What stays of arguments when no part of them can be left out any more: made simpler.

Rules of this module:

* Arguments that have a default are left out, if what comes after them can be given by name.
* Texts that are keys or stand in several places get short names, the same one everywhere: what two arguments have in
  common stays common.
* Numbers become 0, or else 1, or else 2, of the same type and sign. A loop may never end then, so that is only for
  calls that can be ended.
* Whatever these rules make is not made simpler by them again, so that searches end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from functools import partial
from inspect import Parameter, Signature
from itertools import count
from string import ascii_lowercase
from typing import Any

from replay_dd.call.containers import container_of, has_axes
from replay_dd.call.fields import fields_of, with_fields
from replay_dd.call.spaces import DEEPEST, Arguments, Space
from replay_dd.dd import IntervalSet

_SIMPLE_NUMBERS = (0, 1, 2)
_MOST = 100  # numbers or texts that are tried
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def optional_of(signature: Signature, given: Collection[str]) -> list[str]:
    """The names of arguments that can be left out, since they have defaults.

    Args:
        signature: of the function.
        given: the names of its arguments.
    """
    parameters = signature.parameters
    by_place = any(parameters[name].kind is Parameter.VAR_POSITIONAL for name in given)
    kinds = (Parameter.KEYWORD_ONLY,) if by_place else _BY_NAME
    optional = [name for name in given if parameters[name].kind in kinds]
    return [name for name in optional if parameters[name].default is not Parameter.empty]


class Defaults(Space):
    """Arguments that can be left out.

    Args:
        arguments: the arguments.
        names: those that have defaults.
    """

    unit = "optional argument"

    def __init__(self, arguments: Arguments, names: Collection[str]) -> None:
        self.arguments = arguments
        self._names = [name for name in arguments if name in names]
        self.all = IntervalSet.range(0, len(self._names))

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments without the others of these."""
        gone = {name for number, name in enumerate(self._names) if number not in deltas}
        return {name: value for name, value in self.arguments.items() if name not in gone}

    def words(self, delta: int) -> str:
        """The name of the argument."""
        return self._names[delta]


class Named(Space):
    """Texts that may get short names, everywhere.

    Args:
        arguments: the arguments.
        names: those to look into.
    """

    unit = "name"

    def __init__(self, arguments: Arguments, names: Collection[str]) -> None:
        self.arguments = arguments
        self._names = names
        self._keys: set[str] = set()
        seen: Counter[str] = Counter()

        def note(value: Any, is_key: bool) -> Any:
            if type(value) is str:
                seen[value] += 1
                if is_key:
                    self._keys.add(value)
            return value

        _rewritten(arguments, names, note)
        long = [text for text, times in seen.items() if len(text) > 1 and (times > 1 or text in self._keys)][:_MOST]
        free = (letter for letter in ascii_lowercase if letter not in seen)
        self._short = dict(zip(long, free, strict=False))
        self._long = list(self._short)
        self.all = IntervalSet.range(0, len(self._long))

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments in which only these texts are as they were."""
        short = {text: self._short[text] for number, text in enumerate(self._long) if number not in deltas}

        def name(value: Any, is_key: bool) -> Any:
            return short.get(value, value) if type(value) is str else value

        return _rewritten(self.arguments, self._names, name)

    def words(self, delta: int) -> str:
        """The text."""
        return repr(self._long[delta])


class Numbers(Space):
    """Numbers that may be simple ones.

    Args:
        arguments: the arguments.
        names: those to look into.
        simple: which number takes their place, but for its type and sign.
    """

    unit = "number"

    def __init__(self, arguments: Arguments, names: Collection[str], simple: int) -> None:
        self.arguments = arguments
        self._names = names
        self._simple = simple
        self._found: list[Any] = []

        def note(value: Any, is_key: bool) -> Any:
            if not is_key and self._may_change(value):
                self._found.append(value)
            return value

        _rewritten(arguments, names, note)
        self.all = IntervalSet.range(0, len(self._found) if len(self._found) <= _MOST else 0)

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments in which only these numbers are as they were."""
        numbers = count()

        def change(value: Any, is_key: bool) -> Any:
            if is_key or not self._may_change(value) or next(numbers) in deltas:
                return value
            return type(value)(-self._simple if value < 0 else self._simple)

        return _rewritten(self.arguments, self._names, change)

    def words(self, delta: int) -> str:
        """The number."""
        return repr(self._found[delta])

    def _may_change(self, value: Any) -> bool:
        """Whether a value is a number, and less simple."""
        if type(value) is bool:
            return value and self._simple == 0
        simple = (*range(self._simple + 1), *range(-self._simple, 0))
        return type(value) in (int, float) and value not in simple


def simpler(
    left: Callable[[], Arguments], names: Collection[str], optional: Collection[str], *, numbers: bool
) -> Iterator[Space]:
    """Ways to make simpler what is left of the arguments at that moment.

    Args:
        left: the arguments.
        names: those that may be reduced.
        optional: those that have defaults.
        numbers: whether numbers may change.
    """
    ways: list[Callable[[Arguments], Space]] = [partial(Defaults, names=[name for name in optional if name in names])]
    if numbers:
        ways += [partial(Numbers, names=names, simple=simple) for simple in _SIMPLE_NUMBERS]
    ways.append(partial(Named, names=names))
    for way in ways:
        space = way(left())
        if space.all:
            yield space


def intricacy_of(arguments: Arguments, names: Collection[str]) -> tuple[int, ...]:
    """How much of arguments could be simpler: it becomes less with each search that finds something."""
    numbers = (Numbers(arguments, names, simple).all.count for simple in _SIMPLE_NUMBERS)
    return (len(arguments), *numbers, Named(arguments, names).all.count)


_Visit = Callable[[Any, bool], Any]


def _rewritten(arguments: Arguments, names: Collection[str], visit: _Visit) -> dict[str, Any]:
    """Arguments with other keys, texts and numbers.

    Args:
        arguments: the arguments.
        names: those to look into.
        visit: makes the new value of one without parts, or of a text; it is told whether that is a key.
    """
    return {name: _value(value, visit, ()) if name in names else value for name, value in arguments.items()}


def _value(value: Any, visit: _Visit, above: tuple[int, ...]) -> Any:
    if isinstance(value, Enum | type) or id(value) in above or len(above) > DEEPEST:
        return value
    if type(value) in (str, bool, int, float):
        return visit(value, False)
    inner = (*above, id(value))
    fields = fields_of(value)
    if fields is not None:
        made = {name: _value(one, visit, inner) for name, one in fields.items()}
        changed = {name: one for name, one in made.items() if one is not fields[name]}
        return with_fields(value, changed) if changed else value
    container = None if has_axes(value) else container_of(value)
    if container is None or isinstance(value, str | bytes | bytearray):
        return value
    if type(value) is dict:
        pairs = {visit(key, True): _value(one, visit, inner) for key, one in value.items()}
        return pairs if len(pairs) == len(value) else value
    old = container.inside()
    new = [_value(one, visit, inner) for one in old]
    return value if all(one is other for one, other in zip(new, old, strict=True)) else container.with_inside(new)
