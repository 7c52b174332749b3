"""Tables are reduced by rows and columns, and written so that they can be made again.

``pandas`` is not needed for that: what stands in for it here has as much of it as is used.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from replay_dd.call.source import source_of

pytestmark = pytest.mark.once


class Column:
    """What a series is."""

    ndim = 1

    def __init__(self, values: Sequence[Any], index: Sequence[Any] | None = None, dtype: str = "", name: Any = None):
        self.values, self.name = list(values), name
        self.index = Index(range(len(self.values)) if index is None else index)
        self.dtype = dtype or ("int64" if self.values and isinstance(self.values[0], int) else "object")
        self.shape: tuple[int, ...] = (len(self.values),)

    def tolist(self) -> list[Any]:
        """The values."""
        return self.values

    @property
    def iloc(self) -> Any:
        """Rows by number."""
        return At(lambda rows: Column([self.values[row] for row in rows], self.index.of(rows), self.dtype, self.name))

    def equals(self, other: Any) -> bool:
        """Whether both are the same."""
        return (self.values, self.dtype, self.index.tolist()) == (other.values, other.dtype, other.index.tolist())


class Table:
    """What a data frame is."""

    ndim = 2

    def __init__(self, data: Mapping[str, Sequence[Any]], index: Sequence[Any] | None = None) -> None:
        self.of = {name: Column(values, index) for name, values in data.items()}
        self.columns = list(self.of)
        rows = len(next(iter(self.of.values())).values) if self.of else 0
        self.index = Index(range(rows) if index is None else index)
        self.shape = (rows, len(self.of))

    def __getitem__(self, name: str) -> Column:
        """One column."""
        return self.of[name]

    @property
    def iloc(self) -> Any:
        """Rows by number, or columns."""
        return At(self._at)

    def _at(self, places: Any) -> Table:
        if isinstance(places, tuple):
            names = [self.columns[place] for place in places[1]]
            made = Table({name: self.of[name].values for name in names}, self.index.tolist())
        else:
            made = Table({name: column.iloc[places].values for name, column in self.of.items()}, self.index.of(places))
        return made.astype({name: self.of[name].dtype for name in made.columns})

    def astype(self, types: Mapping[str, str]) -> Table:
        """With other types."""
        made = Table({name: column.values for name, column in self.of.items()}, self.index.tolist())
        for name, dtype in types.items():
            made.of[name].dtype = dtype
        return made

    def equals(self, other: Any) -> bool:
        """Whether both are the same."""
        return self.columns == other.columns and all(self[name].equals(other[name]) for name in self.columns)


class Index:
    """The labels of rows."""

    def __init__(self, labels: Sequence[Any]) -> None:
        self.labels = list(labels)

    def tolist(self) -> list[Any]:
        """The labels."""
        return self.labels

    def of(self, rows: Sequence[int]) -> list[Any]:
        """Those of some rows."""
        return [self.labels[row] for row in rows]

    def equals(self, other: Any) -> bool:
        """Whether both are the same."""
        return self.labels == list(other)


class At:
    """Subscripts."""

    def __init__(self, get: Any) -> None:
        self.get = get

    def __getitem__(self, places: Any) -> Any:
        """What is there."""
        return self.get(places)


Table.__name__ = "DataFrame"
Column.__name__ = "Series"


@pytest.fixture(autouse=True)
def pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Table, Series=Column, RangeIndex=range))


def test_rows_and_columns_are_left_out() -> None:
    def check(table: Any, column: Any) -> None:
        if 0 in table["x"].values and 8 in column.values:
            raise ValueError

    table = Table({"x": [1, 2, 0, 4], "y": list("abcd")}).astype({"x": "int32"})
    dd = DeltaDebugger().collect(check, table, Column([7, 8, 9], name="k"))
    assert repr(dd) == (
        "check(table=pandas.DataFrame({'x': [0]}, index=[2]).astype({'x': 'int32'}), "
        "column=pandas.Series([8], index=[1], dtype='int64', name='k'))"
    )
    assert table.shape == (4, 2)


def test_a_table_whose_method_fails_is_reduced() -> None:
    def first(self: Any, value: int) -> None:
        if self["x"].values[0] == value:
            raise ValueError

    first.__qualname__ = "Table.first"
    dd = DeltaDebugger().collect(first, Table({"x": [4, 4], "y": [1, 2]}), 4)
    assert repr(dd) == "Table.first(self=pandas.DataFrame({'x': [4]}), value=4)"


def test_what_could_not_be_made_again_is_written_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Column, "equals", lambda one, other: False)
    assert source_of(Column([1])).startswith("<tests.call.test_frames.Column object")
