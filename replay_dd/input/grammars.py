"""Trees and tokens of programming and markup languages, by their grammars.

Rules of this module:

* Trees come from tree-sitter, which also parses files with errors; tokens come from Pygments. Both are optional.
* The language follows from the name of the file, unless it is given.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.errors.user import UsageError
from replay_dd.grammars import INSTALL, LANGUAGES, language_named, parser_of
from replay_dd.input.trees import Node, Parse
from replay_dd.input.units import WORDS, Edges, decoded, edges_of, encoded


def knows(name: str) -> bool:
    """Whether the name of a file tells its language."""
    return language_named(name) is not None


def language_of(name: str) -> str:
    """The language of a file.

    Raises:
        UsageError: its name does not tell.
    """
    language = language_named(name)
    if language is None:
        raise UsageError(
            f"The name {name} does not tell which language the file is in.",
            f"Give it with `--language` ({', '.join(LANGUAGES)}), or use `--units brackets`, which need no grammar.",
        )
    return language


def tree_parser(language: str) -> Parse:
    """A parser for a language.

    Raises:
        SoftwareMissingError: tree-sitter or the grammar is not installed.
    """
    parser = parser_of(language)
    return lambda content: _tree(parser.parse(content).root_node)


def _tree(root: Any) -> Node:
    """The named nodes of a tree of tree-sitter."""
    made = Node(root.start_byte, root.end_byte, root.type)
    waiting = [(root, made)]
    while waiting:
        node, parent = waiting.pop()
        for child in node.named_children:
            if child.start_byte == child.end_byte:
                continue
            below = Node(child.start_byte, child.end_byte, child.type)
            parent.children.append(below)
            waiting.append((child, below))
    return made


def token_edges(name: str, language: str | None) -> Callable[[bytes], Edges]:
    """Cuts a file into tokens, each with the blanks that follow it.

    Args:
        name: of the file.
        language: if its name does not tell; any name or alias of a lexer.

    Raises:
        SoftwareMissingError: Pygments is not installed.
        UsageError: it has no lexer for this file.
    """
    try:
        lexers = importlib.import_module("pygments.lexers")
        missing = importlib.import_module("pygments.util").ClassNotFound
    except ImportError as error:
        raise SoftwareMissingError(
            "Pygments, which knows the tokens of languages, is not installed.", INSTALL
        ) from error
    try:
        lexer = lexers.get_lexer_by_name(language) if language else lexers.get_lexer_for_filename(name)
    except missing as error:
        what = f"the language {language}" if language else f"files named like {name}"
        raise UsageError(
            f"Pygments has no lexer for {what}.", "Give the language with `--language`, or use `--units words`."
        ) from error

    def edges(content: bytes) -> Edges:
        pieces: list[str] = []
        for _, _, text in lexer.get_tokens_unprocessed(decoded(content)):
            if text.isspace() and pieces:
                pieces[-1] += text
            elif text:
                pieces.append(text)
        found = edges_of(map(encoded, pieces))
        # A lexer that loses or repeats text would be of no use.
        return found if found[-1] == len(content) else WORDS.edges(content)

    return edges
