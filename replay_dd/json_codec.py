"""JSON and frozen dataclasses: one schema check for every format.

Rules of this module:

* The annotations of a dataclass are the schema of its JSON object; :mod:`replay_dd.schema` has what they cannot say.
* Whatever the text, reading it ends with a value that keeps to the schema, or with a :class:`ValueError` that names the
  field and what it must be.
* Unknown keys are ignored: a later minor version may add some.
* Fields that have their default value may be left out of what is written, so that a line is short and fields can be
  added.
* A schema is compiled once, into one function for each type: logs have hundreds of thousands of lines.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, cast

from replay_dd.schema import (
    BASE64,
    DEEPEST,
    LARGEST_INTEGER,
    MOST_ITEMS,
    SMALLEST_INTEGER,
    Form,
    Misfit,
    Range,
    Rule,
    must_be,
    shown,
)

# -- plain values to values of the schema ----------------------------------------------------------------------------


def from_plain(wanted: Any, value: Any, where: str = "") -> Any:
    """A value of the wanted type, out of what :func:`~replay_dd.json_text.parse` read.

    Args:
        wanted: a dataclass, an enumeration, ``str``, ``int``, ``float``, ``bool``, ``bytes``, ``tuple[X, ...]``,
            ``tuple[X, Y]``, a named tuple, ``Mapping[str, X]``, one of these or None, one of these ``Annotated`` with a
            :class:`Rule` or a :class:`Form`, or ``Any``.
        value: what was read.
        where: the name of the value, for errors.

    Raises:
        ValueError: the value is not of that type.
    """
    try:
        return reader(wanted)(value)
    except Misfit as misfit:
        raise misfit.inside(where) if where else misfit from None


Reader = Callable[[Any], Any]


@functools.cache
def reader(wanted: Any) -> Reader:
    """What reads values of a type: a function that returns the value or raises a :class:`Misfit`; see from_plain."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is Annotated:
        return _annotated_reader(arguments)
    if origin in (typing.Union, types.UnionType):
        one, *others = [item for item in arguments if item is not type(None)]
        if others or len(arguments) != 2:
            raise TypeError(f"{wanted} is not one type or None")
        return _optional_reader(reader(one))
    if origin is tuple:
        return _list_reader(reader(arguments[0])) if arguments[-1] is Ellipsis else _row_reader(arguments, tuple)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_reader(reader(arguments[0]), reader(arguments[1]))
    if wanted is Any:
        return _read_anything
    if isinstance(wanted, type):
        if dataclasses.is_dataclass(wanted):
            return _dataclass_reader(wanted)
        if issubclass(wanted, tuple):
            return _row_reader(tuple(typing.get_type_hints(wanted, include_extras=True).values()), wanted._make)  # type: ignore[attr-defined]  # a NamedTuple
        if issubclass(wanted, enum.Enum):
            return _enum_reader(wanted)
        if wanted in _SIMPLE:
            return _SIMPLE[wanted]
    raise TypeError(f"{wanted} has no form in JSON")


def _read_text(value: Any) -> str:
    if type(value) is not str:
        raise must_be("a text", value)
    return value


def _read_truth(value: Any) -> bool:
    if type(value) is not bool:
        raise must_be("true or false", value)
    return value


def _read_integer(value: Any) -> int:
    if type(value) is not int or not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise must_be("an integer of 64 bits", value)
    return value


def _read_number(value: Any) -> float:
    if type(value) is int and SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise must_be("a finite number", value)
    return value


def _read_bytes(value: Any) -> bytes:
    return _form_reader(BASE64)(value)  # type: ignore[no-any-return]  # bytes, as the form says


_SIMPLE: dict[type, Reader] = {
    str: _read_text,
    bool: _read_truth,
    int: _read_integer,
    float: _read_number,
    bytes: _read_bytes,
}


def _read_anything(value: Any) -> Any:
    waiting = [(value, 1)]
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, list | dict):
            if depth > DEEPEST:
                raise must_be(f"nested no deeper than {DEEPEST} levels", value)
            waiting += [(inner, depth + 1) for inner in (item if isinstance(item, list) else item.values())]
        elif item is not None:
            _SIMPLE[type(item)](item)
    return value


def _annotated_reader(arguments: tuple[Any, ...]) -> Reader:
    inner, *notes = arguments
    for note in notes:
        if isinstance(note, Form):
            return _form_reader(note)
        if isinstance(note, Range) and inner is int:
            return _range_reader(note)
        if isinstance(note, Rule):
            return _rule_reader(reader(inner), note)
    return reader(inner)


def _form_reader(form: Form) -> Reader:
    decode = form.read

    def read(value: Any) -> Any:
        try:
            return decode(value)
        except ValueError:
            raise must_be(form.words, value) from None

    return read


def _range_reader(wanted: Range) -> Reader:
    low, high = wanted.low, wanted.high

    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise must_be(wanted.words, value)
        return value

    return read


def _rule_reader(read_inner: Reader, rule: Rule) -> Reader:
    holds = rule.holds

    def read(value: Any) -> Any:
        found = read_inner(value)
        if not holds(found):
            raise must_be(rule.words, value)
        return found

    return read


def _optional_reader(read_inner: Reader) -> Reader:
    def read(value: Any) -> Any:
        return None if value is None else read_inner(value)

    return read


def _list_reader(read_item: Reader) -> Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list or len(value) > MOST_ITEMS:
            raise must_be(f"a list of up to {MOST_ITEMS:,} items", value)
        number = 0
        found = []
        try:
            for number, item in enumerate(value):  # noqa: B007  it names the item in the error
                found.append(read_item(item))
        except Misfit as misfit:
            raise misfit.inside(f"[{number}]") from None
        return tuple(found)

    return read


def _row_reader(kinds: tuple[Any, ...], make: Callable[[tuple[Any, ...]], Any]) -> Reader:
    readers = tuple(reader(kind) for kind in kinds)
    count = len(readers)

    def read(value: Any) -> Any:
        if type(value) is not list or len(value) != count:
            raise must_be(f"a list of {count} items", value)
        found = []
        try:
            for read_item, item in zip(readers, value, strict=True):
                found.append(read_item(item))
        except Misfit as misfit:
            raise misfit.inside(f"[{len(found)}]") from None
        return make(tuple(found))

    return read


def _mapping_reader(read_name: Reader, read_item: Reader) -> Reader:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict or len(value) > MOST_ITEMS:
            raise must_be(f"an object of up to {MOST_ITEMS:,} members", value)
        found = {}
        for name, item in value.items():
            try:
                found[read_name(name)] = read_item(item)
            except Misfit as misfit:
                raise misfit.inside(shown(name)[1:-1]) from None
        return found

    return read


def _enum_reader(wanted: type[enum.Enum]) -> Reader:
    members = {member.value: member for member in wanted}
    words = f"one of {', '.join(map(str, members))}"

    def read(value: Any) -> enum.Enum:
        found = members.get(value) if type(value) is str else None
        if found is None:
            raise must_be(words, value)
        return found

    return read


def _dataclass_reader(wanted: Any) -> Reader:
    hints = _hints(wanted)
    fields = tuple(
        (item.name, reader(hints[item.name]), _default(item) is dataclasses.MISSING)
        for item in dataclasses.fields(wanted)
    )

    def read(value: Any) -> Any:
        if type(value) is not dict:
            raise must_be("an object", value)
        given = {}
        name = ""
        try:
            for name, read_field, needed in fields:
                if name in value:
                    given[name] = read_field(value[name])
                elif needed:
                    raise Misfit("is missing")
        except Misfit as misfit:
            raise misfit.inside(name) from None
        return wanted(**given)

    return read


# -- values of the schema to plain values ----------------------------------------------------------------------------


def to_plain(value: Any, *, whole: bool = False) -> Any:
    """What :mod:`json` can write.

    Args:
        value: a dataclass, an enumeration, or a plain value.
        whole: write fields that have their default value, too.
    """
    write = _writer(cast(Any, type(value)), whole)
    return value if write is None else write(value)


Writer = Callable[[Any], Any]


@functools.cache
def _writer(wanted: Any, whole: bool) -> Writer | None:
    """What writes values of a type; None where they stay as they are."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin is Annotated:
        form = next((note for note in arguments[1:] if isinstance(note, Form)), None)
        return _writer(arguments[0], whole) if form is None else form.write
    if origin in (typing.Union, types.UnionType):
        return _optional_writer(_writer(next(item for item in arguments if item is not type(None)), whole))
    if origin is tuple and arguments[-1] is Ellipsis:
        return _list_writer(_writer(arguments[0], whole))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_writer(_writer(arguments[1], whole))
    if wanted is bytes:
        return BASE64.write
    if isinstance(wanted, type):
        if dataclasses.is_dataclass(wanted):
            return _dataclass_writer(wanted, whole)
        if issubclass(wanted, enum.Enum):
            return operator.attrgetter("value")
        if issubclass(wanted, tuple):
            return list  # of plain values
    return None


def _optional_writer(write_one: Writer | None) -> Writer | None:
    return None if write_one is None else lambda value: None if value is None else write_one(value)


def _list_writer(write_item: Writer | None) -> Writer:
    return list if write_item is None else lambda value: [write_item(item) for item in value]


def _mapping_writer(write_item: Writer | None) -> Writer:
    return dict if write_item is None else lambda value: {name: write_item(item) for name, item in value.items()}


def _dataclass_writer(wanted: Any, whole: bool) -> Writer:
    hints = _hints(wanted)
    fields = [(item.name, _default(item), _writer(hints[item.name], whole)) for item in dataclasses.fields(wanted)]

    def write(value: Any) -> dict[str, Any]:
        written = {}
        for name, default, write_field in fields:
            current = getattr(value, name)
            if whole or current != default:
                written[name] = current if write_field is None else write_field(current)
        return written

    return write


@functools.cache
def _hints(wanted: type) -> dict[str, Any]:
    return typing.get_type_hints(wanted, include_extras=True)


def _default(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default
