"""Values in generated programs come out of these as they went in."""

from __future__ import annotations

import ast
import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.trust.printable import printable
from replay_dd.trust.quoting import comment, python_literal, shell_command

EVIL = [
    *("'", "''", '"', "\\", "\\'", "\n", "\n\n", "a\n", "\t", "\r", "$(touch ran)", "`touch ran`", "${HOME}", "!!"),
    *("a b", "", " ", "-n", "--", "A=b", "if", "then", "done", "~", "#", "a#b", "#a", ";", "&", "|", "(", ")", "*"),
    *("'; touch ran; '", '"; touch ran; "', "\nEOF\n", "\x1b[2J", "\x7f", "\x9b31m", "\u202e", "é", "\udcff\udc80"),
    *('"""\nimport os\n"""', "\\\n", "\\N{BULLET}", "{0}", "\u2028", "🐍", "\x0c", "{a,b}", "[a-z]", "a\\", "="),
    *("\\033", "%s", "<", ">", "coding: utf-7", "+ADs-"),
]
ARGUMENTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.binary().map(
    lambda data: os.fsdecode(data.replace(b"\0", b""))
)


def through_a_shell(words: list[str], shell: str = "sh") -> list[bytes]:
    script = f"printf '%s\\0' {shell_command(words)}\n"
    assert printable(script, keep="\n\t") == script
    done = subprocess.run([shell], input=script.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    return done.stdout.split(b"\0")[:-1]


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_words_for_a_shell(shell: str) -> None:
    assert through_a_shell(EVIL, shell) == [os.fsencode(word) for word in EVIL]


@settings(max_examples=60)
@given(st.lists(ARGUMENTS, min_size=1, max_size=30))
def test_any_words_for_a_shell(words: list[str]) -> None:
    assert through_a_shell(words) == [os.fsencode(word) for word in words]


def test_what_no_program_can_be_given_is_told() -> None:
    assert through_a_shell(["a\0b", "\ud800"]) == [b"a\\x00b", b"\\ud800"]


@pytest.mark.parametrize("word", ["plain", "/usr/bin/python3", "a-b", "1.5"])
def test_plain_words_stay_as_they_are(word: str) -> None:
    assert shell_command([word]) == word


@given(st.text() | st.integers() | st.lists(st.text()) | st.sampled_from(EVIL))
def test_any_value_for_python(value: str | int | list[str]) -> None:
    text = python_literal(value)
    assert text.isascii()
    assert text.isprintable()
    assert ast.literal_eval(text) == value


@given(st.text() | st.sampled_from(EVIL))
def test_a_comment_is_one_line_and_nothing_else(text: str) -> None:
    line = comment(text)
    assert line.isascii() or printable(line) == line
    assert ast.dump(ast.parse(f"# \n#\n{line}\n")) == ast.dump(ast.parse(""))
    assert len(line.splitlines()) == 1
