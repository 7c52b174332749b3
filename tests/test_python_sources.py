"""Sources of programs are parsed without the interpreter's warnings about them."""

from __future__ import annotations

import ast
import warnings

import pytest

from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.outlines import symbols_of
from replay_dd.python_sources import parsed, without_warnings

WARNED_OF = "name = '\\d'\n\n\ndef function():\n    return name is 'x'\n"


def test_what_is_parsed_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [type(one) for one in parsed(WARNED_OF).body] == [ast.Assign, ast.FunctionDef]
        with without_warnings():
            compile(WARNED_OF, "prog.py", "exec")
        lines = WARNED_OF.encode().splitlines(keepends=True)
        assert list(bound_at_top(lines)) == ["name", "function"]
        assert symbols_of("prog.py", lines)[-1] == "function"
        with pytest.raises((SyntaxError, DeprecationWarning)):  # the filters are as before
            ast.parse(WARNED_OF)


def test_what_is_no_python_is_told() -> None:
    with pytest.raises(SyntaxError):
        parsed("def")
