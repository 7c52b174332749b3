"""Messages of failures without the data in them, so that one failure has one message.

What a schedule changes in a message is mostly data: how many, which one, where, when. What the program says about them
is the failure.
"""

from __future__ import annotations

import re

_DEEPEST = 10  # containers in containers
_LIST = re.compile(r"#(?:\s*[,:]\s*#)+")
_LONGEST = 10_000  # characters of a message that are compared

# Each run has a temporary folder of its own (experiment/process.py), in a workplace (experiment/guard.py).
_TEMPORARY = re.compile(r"/[^\s'\"<>:,;()]*/replay-dd-[0-9a-f]+/\d+/tmp-*(?![\w-])")
_ADDRESS = re.compile(r"\b0[xX][0-9a-fA-F]+\b")
# In this order: what comes first may contain what comes later.
_DATA = (
    # What a loop says of a dictionary that was changed meanwhile depends on its size: CPython's dictiter_iternextkey().
    (re.compile(r"\bdictionary (?:keys changed|changed size) during\b"), "dictionary changed during"),
    (re.compile(r"(?<!\w)'(?:[^'\\\n]|\\.)*'(?!\w)"), "#"),  # values that are texts
    (re.compile(r'(?<!\w)"(?:[^"\\\n]|\\.)*"(?!\w)'), "#"),
    (_ADDRESS, "#"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "#"),  # UUIDs
    (
        re.compile(r"(?<![\w.])(?<![0-9]:)[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?(?!\w|\.\w)"),
        "#",
    ),  # fractions, whose digits are no id
    (re.compile(r"\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\b"), "#"),  # other ids
    (re.compile(r"(?<![\w/])(?:~|\.{1,2})?/[^\s'\"<>:,;()\[\]{}]+"), "/"),  # paths
    (re.compile(r"[0-9]+(?:[._:,-][0-9]+)*"), "#"),  # numbers, times, dates, versions
    (re.compile(r"#(?:[eE][-+]?#)?"), "#"),  # powers of ten
    (re.compile(r"(?<![\w)\]#])[-+]#"), "#"),  # signs
    (re.compile(r"\b(?:nan|inf|None|True|False)\b"), "#"),  # values that take the place of a number
    (re.compile(r"#(?:\s*,\s*#)+"), "#"),  # lists of any length
    (re.compile(r"\s+"), " "),
)
# Containers of such data, also inside of others; an empty one is data as well.
_CONTAINER = re.compile(
    r"\b(?:deque|dict|frozenset|set|list|tuple|Counter|OrderedDict)\((?:#|\[\]|\{\})?\)"
    r"|[\[{(]\s*(?:#(?:\s*[:,=]\s*#)*,?)?\s*[\]})]"
)


def without_addresses(message: str) -> str:
    """A message with addresses, and with the temporary folder of its run, taken out."""
    return _ADDRESS.sub("#", _TEMPORARY.sub("#", message))


def without_data(message: str) -> str:
    """A message with numbers, quoted texts, addresses, paths, times and ids taken out."""
    message = message[:_LONGEST]
    for pattern, instead in _DATA:
        message = pattern.sub(instead, message)
    for _ in range(_DEEPEST):
        inner = _CONTAINER.sub("#", message)
        if inner == message:
            break
        message = _LIST.sub("#", inner)
    return message.strip()
