"""The languages whose grammars can be installed, and parsers for them (tree-sitter)."""

from __future__ import annotations

import functools
import importlib
from pathlib import PurePath
from typing import Any

from replay_dd.errors.machine import SoftwareMissingError

INSTALL = "Install it with `pip install 'replay-dd[syntax]'`."
LANGUAGES = {
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"),
    "css": (".css",),
    "html": (".html", ".htm", ".xhtml"),
    "java": (".java",),
    "javascript": (".js", ".cjs", ".mjs", ".jsx"),
    "json": (".json",),
    "python": (".py", ".pyi"),
    "sql": (".sql",),
    "xml": (".xml", ".svg", ".xsd", ".xsl"),
    "yaml": (".yaml", ".yml"),
}
"""Names of languages, with the endings of their files; the packages are called tree_sitter_NAME."""


def language_named(name: str) -> str | None:
    """The language that the name of a file tells; None if it tells none."""
    ending = PurePath(name).suffix.lower()
    return next((language for language, endings in LANGUAGES.items() if ending in endings), None)


def parser_of(language: str) -> Any:
    """A new parser of tree-sitter; not to be used by two threads at the same time.

    Raises:
        SoftwareMissingError: tree-sitter or the grammar is not installed.
    """
    try:
        return importlib.import_module("tree_sitter").Parser(_grammar(language))
    except ImportError as error:
        raise SoftwareMissingError(f"The grammar of {language} is not installed.", INSTALL) from error


@functools.cache
def _grammar(language: str) -> Any:
    module = importlib.import_module(f"tree_sitter_{language}")
    described = getattr(module, "language", None) or getattr(module, f"language_{language}")
    return importlib.import_module("tree_sitter").Language(described())
