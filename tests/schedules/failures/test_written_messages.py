"""Messages of exceptions are found in the tracebacks that the interpreter wrote."""

from __future__ import annotations

from replay_dd.schedules.failures.written_messages import WrittenMessages

OUTPUT = b"""started
Traceback (most recent call last):
  File "x.py", line 1, in <module>
mine.Failure: first (of 2): yes
and its second line
Traceback (most recent call last):
mine.Failure
Traceback (most recent call last):
mine.Failure: third \xff
"""


def test_messages_are_found_in_their_order() -> None:
    written = WrittenMessages(OUTPUT)
    assert written.message("mine.Failure", None) == "first (of 2): yes"
    assert written.message("mine.Failure", None) == ""
    assert written.message("mine.Failure", None) == "third \ufffd"
    assert written.message("mine.Failure", None) == ""


def test_a_message_that_was_told_is_passed_over() -> None:
    written = WrittenMessages(OUTPUT)
    assert written.message("mine.Failure", "told") == "told"
    assert written.message("mine.Failure", "told") == "told"
    assert written.message("mine.Failure", None) == "third \ufffd"


def test_another_type_whose_name_contains_this_one() -> None:
    assert WrittenMessages(b"mine.Failures: 3\nother.mine.Failure: 4\n").message("mine.Failure", None) == ""
