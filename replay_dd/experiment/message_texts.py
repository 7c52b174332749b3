"""What of a message tells failures apart, and what changes with the input."""

from __future__ import annotations

import re

from replay_dd.experiment.complaints import in_short

_SHOWN = 200
# What colors a terminal (ECMA-48, control sequences).
_COLORS = re.compile(r"\x1b\[[0-9;:]*m")
# What comes after a plus sign is an offset in a module, which stays.
_ADDRESS = re.compile(r"(?<!\+)\b0x[0-9a-fA-F]+\b|(?<==)=\d+(?===)")
_NUMBER = re.compile(r"(?:(?<![^\s(\[=])-)?\d+(?:\.\d+)*(?:e[-+]\d+)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
# What newer Pythons add to a message depends on the names that are there, not on the failure.
_SUGGESTION = re.compile(r"(?:\.? (?:Or did|Did) you (?:mean|forget to import)\b[^?\n]*\?)+$")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\"]+/)+")  # of an absolute path
# A quote that is opened twice is looked for from the second one on: a line of nothing else is read in linear time.
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|`[^'`\n]*['`]|‘[^‘’\n]*’|“[^“”\n]*”")


def cut(text: str) -> str:
    """A text as it can be shown: in one line, not too long, without colors and control characters."""
    text = "".join(character if character.isprintable() else "�" for character in _COLORS.sub("", text))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def without_addresses(text: str) -> str:
    """A text without addresses and process ids."""
    return _ADDRESS.sub("ADDRESS", text).strip()


def steady(text: str) -> str:
    """A message without what changes with the input: numbers, how wide they are, and quoted text."""
    # Numbers may be padded.
    return re.sub(r"\s+", " ", _NUMBER.sub("N", _QUOTED.sub("TEXT", _without_suggestion(text))))


def quoting(text: str) -> str:
    """A message without numbers, except for those in quoted text."""
    text = _without_suggestion(text)
    parts = _QUOTED.split(text), [*_QUOTED.findall(text), ""]
    return "".join(re.sub(r"\d+", "N", between) + quoted for between, quoted in zip(*parts, strict=True))


def quotes(text: str) -> list[str]:
    """The quoted texts in a message, without addresses and the folders of absolute paths: each run has its own."""
    return [_FOLDERS.sub("", quoted) for quoted in _QUOTED.findall(without_addresses(text))]


def own_words(message: str, inputs: tuple[bytes, ...]) -> str:
    """The words of a message that are in no input."""
    words = _WORD.findall(_QUOTED.sub(" ", _without_suggestion(message)))
    own = _own(set(words), inputs)
    return " ".join(word for word in words if word in own)


def without_words_of(inputs: tuple[bytes, ...], text: str) -> str:
    """A text without the words that are in an input; all else stays, operators for instance."""
    own = _own(set(_WORD.findall(text)), inputs)
    return _WORD.sub(lambda word: word[0] if word[0] in own else "", text)


def _own(words: set[str], inputs: tuple[bytes, ...]) -> set[str]:
    return {word for word in words if not any(word.encode() in data for data in inputs)}


def _without_suggestion(message: str) -> str:
    return _SUGGESTION.sub("", without_addresses(in_short(message)))
