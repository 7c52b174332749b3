"""Messages of exceptions are found in the tracebacks that the interpreter wrote."""

from __future__ import annotations

from replay_dd.schedules.failures.written_messages import WrittenMessages, complaints_in, with_unread_messages
from replay_dd.schedules.model import Ending

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


def test_complaints_are_told_once_of_each_kind_and_the_last_ones() -> None:
    output = b"begun\nerror: no money left\nerror: cannot open account 7\nerror: no money left\n"
    assert complaints_in(output) == ("error: no money left", "error: cannot open account 7")
    assert complaints_in(b"error 1\nnothing\nerror 2\n") == ("error 2",)
    many = b"".join(b"error: %c\n" % letter for letter in b"abcdefghijklmnop")
    assert [line[-1] for line in complaints_in(many)] == list("ghijklmnop")
    assert len(complaints_in(b"error " + b"x" * 500)[0]) == 200


def test_complaints_of_a_run_whose_output_was_shown_are_those_of_the_other() -> None:
    other = Ending(status=1, complaints=("error: no money left",))
    assert with_unread_messages(Ending(status=1), other).complaints == other.complaints
    assert with_unread_messages(Ending(status=1, complaints=("error",)), other).complaints == ("error",)
    assert with_unread_messages(Ending(status=2), other).complaints == ()
