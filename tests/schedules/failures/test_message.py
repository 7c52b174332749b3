"""Which messages are the same but for the data in them."""

from __future__ import annotations

import pytest

from replay_dd.experiment.process import private_folder
from replay_dd.schedules.failures.message import without_addresses, without_data

SAME = [
    ("the total is 7", "the total is 12"),
    ("a=1 b=2", "a=2 b=1"),
    ("balance -3", "balance 10"),
    ("1.5 s", "1e-05 s"),
    ("<Job at 0x7f3a>", "<Job at 0xdeadbeef01>"),
    ("job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 lost", "job 00000000-0000-0000-0000-000000000000 lost"),
    ("commit 9f8e7d6c5b", "commit 0011223344aa"),
    ("took 0.006039857864379883 s", "took 0.125 s"),
    ("after 0.10503983497619629.", "after 2."),
    ("off by 1.23456789012e-05", "off by 3"),
    ("no such file: /tmp/a/b.txt", "no such file: /var/other"),
    ("[Errno 2] No such file or directory: '../x/y'", "[Errno 2] No such file or directory: '/x'"),
    ("at 12:03:44", "at 09:59:01.5"),
    ("2026-11-22 was taken", "1999-01-01 was taken"),
    ("Thread-12 is gone", "Thread-3 is gone"),
    ("[1, 2] != [1, 2, 3]", "[4] != [5, 6]"),
    ("None is not 3", "4 is not None"),
    ("two  blanks", "two blanks"),
    ("'alice' is missing", "'bob' is missing"),
    ("'it\\'s' is missing", '"that" is missing'),
    ("loaded ['a', 'a', 'b']", "loaded ['b', 'a']"),
    ("seen [(1, 0), (1, 1)]", "seen [(1, 1)]"),
    ("got {'a': [1], 'b': []}", "got {}"),
    ("missing: {'x'}", "missing: set()"),
    ("left: deque([1, 2])", "left: deque([])"),
    ("dictionary changed size during iteration", "dictionary keys changed during iteration"),
    ("line one\n  line two", "line one\nline two"),
]
DIFFERENT = [
    ("lost update", "negative balance"),
    ("the client doesn't send, it's late", "the client doesn't wait, it's late"),
    ("'alice' is missing", "'alice' is there"),
    ("a=1", "b=1"),
    ("f() failed", "g() failed"),
    ("queue is empty", "queue is full"),
    ("", "no"),
    ("dictionary changed size during iteration", "deque mutated during iteration"),
    ("facade", "decade"),
    ("x" * 9_999 + "a", "x" * 9_999 + "b"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_numbers_quoted_texts_addresses_paths_times_and_ids_are_data(one: str, other: str) -> None:
    assert without_data(one) == without_data(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_words_are_not(one: str, other: str) -> None:
    assert without_data(one) != without_data(other)


def test_a_huge_message_is_compared_up_to_a_limit() -> None:
    assert len(without_data("word " * 1_000_000)) <= 10_000


def test_addresses_alone_can_be_taken_out() -> None:
    assert without_addresses("3 jobs at 0x7f") == "3 jobs at #"


def test_each_run_has_a_temporary_folder_of_its_own() -> None:
    with private_folder() as one, private_folder() as other:
        said = [
            without_addresses(f"no file '{folder.temporary}/jobs.db' (0x{id(folder):x})") for folder in (one, other)
        ]
    assert said[0] == said[1] == "no file '#/jobs.db' (#)"
    assert without_addresses("no file /tmp/tmp-a/jobs.db") == "no file /tmp/tmp-a/jobs.db"
    long = "/a/long/folder/replay-dd-0012/003/tmp"  # with no room for dashes
    assert without_addresses(f"no file {long}/jobs.db") == "no file #/jobs.db"
