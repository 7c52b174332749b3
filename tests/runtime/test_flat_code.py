"""Code as bytes that are equal for equal code."""

from __future__ import annotations

import marshal
from types import CodeType

from replay_dd.schedules.runtime.stdlib.flat_code import flat, unflat

SOURCE = """
def f(table):
    inner = lambda: (table[1:2], table[1:2, ..., ::3], ("text", 0.5, None, (1,)))
    return table[:-1], [one[1:] for one in table]
"""


def compiled() -> CodeType:
    return compile(SOURCE, "prog.py", "exec")


def test_code_comes_back_as_it_was() -> None:
    assert unflat(flat(compiled())) == compiled()
    table: dict[str, object] = {}
    exec(unflat(flat(compiled())), table)
    assert table["f"]([[1, 2], [3]]) == ([[1, 2]], [[2], []])  # type: ignore[operator]


def test_equal_code_has_equal_bytes_whatever_refers_to_its_parts() -> None:
    code = compiled()
    kept = [code.co_consts, code.co_consts[0].co_consts, code.co_names]
    read = marshal.loads(marshal.dumps(code))
    assert flat(read) == flat(compiled()) == flat(code)
    assert kept
