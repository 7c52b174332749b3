"""The documents use one word for one thing: those of the field, and those of the commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tools.documents import documents

pytestmark = pytest.mark.once

# What is not said here, and what is said instead.
INSTEAD = {
    r"(?:program|session|application)s? with windows": "GUI program, GUI session",
    r"(?:mini|maxi|rando|recog|priori)mis(?:e|es|ed|ing|ation)\b|randomis": "-ize, as the command `minimize`",
    r"how-manieth": "which visit, the number of",
    r"\bhangs on\b|\bhang on (?:each|time|which|how|what)\b": "depends on",
    r"(?<!there )\b(?:is|are|was|were) no (?:Python|text|user|number|part)\b": "is not a",
    r"\bfor our own\b": "for that of replay-dd",
    r"\b(?:take|takes|took) another way\b": "diverge",
    r"(?:pre-?emption|context|yield) point switch|context switch": "thread switch",
    r"\bswitch points?\b|\bpreemption points?\b|\bscheduling points?\b": "yield point",
    r"\bdead ?locks? circle\b|\bcircle of locks\b": "cycle",
    r"\binterleavings?\b": "schedule",
    r"\btest cases?\b": "configuration, test",
    r"\b(?:inconclusive|indeterminate)\b": "unresolved",
    r"\bundecided\b": "unresolved",
    r"\bthe window: this switch\b|\bits window\b(?! manager)": "failing range",
    r"\breachable under the GIL\b": "possible under the GIL",
    r"\bturned round\b": "reversed",
    r"\bfails? already\b": "already fails, fails as early as",
    r"\bthe time (?:is|was) over\b": "time ran out",
}


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_one_word_for_one_thing(document: Path) -> None:
    # Line breaks are no reason.
    text = re.sub(r"\s+", " ", document.read_text(encoding="utf-8"))
    found = [
        f"{match[0]!r}: say {use}" for use_not, use in INSTEAD.items() for match in re.finditer(use_not, text, re.I)
    ]
    assert not found
