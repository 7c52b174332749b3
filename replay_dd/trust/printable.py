"""Text as it may be shown: what a terminal or a browser obeys, or what hides or reorders text, stands there escaped.

Rules of this module:

* Escaped are control characters (also those of ISO 6429 from U+0080 on), format characters (which turn the direction of
  text or are invisible), separators of lines and paragraphs, and surrogates.
* Everything else stays as it is: letters of all languages, accents, drawings, emoji.

Source: Unicode Standard Annex 44, general categories; Boucher and Anderson, "Trojan Source" (2021).
"""

from __future__ import annotations

import unicodedata

_ESCAPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SHORT = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def printable(text: str, *, keep: str = "") -> str:
    """A text with escapes in place of what a terminal might obey.

    Args:
        text: any text.
        keep: characters that stay as they are, such as the newline.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character in keep or not _is_escaped(character) else _escape(character) for character in text
    )


def html_text(text: str) -> str:
    """A text from anywhere as it may stand in an HTML page, also as the value of an attribute in quotes."""
    import html  # only now: it brings all names of characters, and most output is no page

    return html.escape(printable(text, keep="\n\t"))


def _is_escaped(character: str) -> bool:
    return not character.isprintable() and unicodedata.category(character) in _ESCAPED


def _escape(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )
