"""Arguments in a file: as JSON, or as Python literals.

Rules of this module:

* Reading a file never runs what it says: nothing but literals is understood.
* An array, a list or a tuple holds the arguments by position; an object or a dictionary holds them by name; anything
  else is the only argument. A call, such as ``parse('1/0', strict=True)``, says both; the name in it does not count.
* A result is written in the form in which the arguments were read.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replay_dd.call.source import call_source
from replay_dd.errors.user import InputError
from replay_dd.files import read_to_end

JSON = "JSON"
PYTHON = "Python"
_HINT = (
    "Write the arguments as a JSON array (by position) or object (by name), or as Python literals, such as "
    "`parse('text', strict=True)`. Other objects need a function of your own that makes them, or `DeltaDebugger` in a "
    "script."
)


@dataclass(frozen=True)
class FileArguments:
    """What a file holds.

    Attributes:
        positional: arguments by position.
        keywords: arguments by name.
        form: ``JSON`` or ``Python``.
    """

    positional: Sequence[Any]
    keywords: Mapping[str, Any]
    form: str

    def written(self, positional: Sequence[Any], keywords: Mapping[str, Any], name: str) -> str:
        """Other arguments in the same form.

        Args:
            positional: arguments by position.
            keywords: arguments by name.
            name: of the function.
        """
        if self.form == JSON and not (positional and keywords):
            return json.dumps(dict(keywords) if keywords else list(positional), indent=1, ensure_ascii=False) + "\n"
        return call_source(name, positional, keywords) + "\n"


def read_arguments(path: Path) -> FileArguments:
    """The arguments in a file.

    Raises:
        InputError: it cannot be read, or is neither JSON nor Python literals.
    """
    try:
        text = read_to_end(path).decode()
    except OSError as error:
        raise InputError(f"The arguments {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The arguments {path} are not text: {error.reason} at byte {error.start}.", _HINT) from error
    if not text.strip():
        raise InputError(f"The file of arguments {path} is empty.", _HINT)
    return parse_arguments(text, str(path))


def parse_arguments(text: str, name: str) -> FileArguments:
    """The arguments in a text.

    Args:
        text: JSON, or Python literals.
        name: what errors call the text; one that ends with ``.json`` is no Python.

    Raises:
        InputError: it is neither.
    """
    try:
        return FileArguments(*_sorted_out(json.loads(text)), JSON)
    except RecursionError as error:
        raise _too_deep(name) from error
    except ValueError as error:
        not_json = f"not JSON ({error})"
        if name.endswith(".json"):
            raise InputError(f"The arguments {name} are {not_json}.", _HINT) from error
    try:
        return FileArguments(*_of_python(text), PYTHON)
    except (RecursionError, MemoryError) as error:
        raise _too_deep(name) from error
    except (SyntaxError, ValueError, TypeError) as error:
        why = f"{error.msg}, line {error.lineno}" if isinstance(error, SyntaxError) else str(error)
        told = f"The arguments {name} are {not_json}, and not Python literals ({why})."
        raise InputError(told, _HINT) from error


def _too_deep(name: str) -> InputError:
    return InputError(f"The arguments {name} are nested too deeply to be read.", _HINT)


def _of_python(text: str) -> tuple[Sequence[Any], Mapping[str, Any]]:
    tree = ast.parse(text.strip(), mode="eval").body
    if not isinstance(tree, ast.Call) or _is_empty_set(tree):
        return _sorted_out(_literal(tree))
    keywords: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None:
            keywords.update(_literal(keyword.value))
        else:
            keywords[keyword.arg] = _literal(keyword.value)
    return [_literal(argument) for argument in tree.args], keywords


def _literal(tree: ast.expr) -> Any:
    try:
        return ast.literal_eval(tree)
    except ValueError:
        raise ValueError(f"`{ast.unparse(tree)[:60]}` in line {tree.lineno} is or holds more than a literal") from None


def _is_empty_set(tree: ast.Call) -> bool:
    return isinstance(tree.func, ast.Name) and tree.func.id == "set" and not tree.args and not tree.keywords


def _sorted_out(value: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
    if isinstance(value, list | tuple):
        return value, {}
    if isinstance(value, dict) and value and all(isinstance(key, str) and key.isidentifier() for key in value):
        return (), value
    return (value,), {}
