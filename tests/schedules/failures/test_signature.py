"""When two runs ended the same way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.errors.program import DoesNotFailError
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import (
    PASSED,
    UNKNOWN,
    message_changed,
    outcome_of,
    signature_of,
    text_sought,
)
from replay_dd.schedules.isolating.circumstance import ScheduleRunner
from replay_dd.schedules.model import Ending, Frame, UncaughtException, Waiter
from tests.schedules.logs import FAILED, log_of

LIBRARY = Frame("queue.py", 3, "get", False)
USER = Frame("prog.py", 9, "work", True)
OTHER = Frame("prog.py", 10, "work", True)


def raised(where: str = "main", name: str = "ValueError", text: str = "no", *frames: Frame) -> UncaughtException:
    return UncaughtException(where, name, text, frames or (USER, LIBRARY))


def ending(*exceptions: UncaughtException, status: int | None = 1, **more: object) -> Ending:
    return replace(Ending(status=status, exceptions=exceptions), **more)


@pytest.mark.parametrize(
    "one, other, same",
    [
        (raised(), raised(), True),
        (raised(), raised(text="another text"), False),
        (raised(text="lost 3 of 4"), raised(text="lost 1 of 2"), True),
        (raised(), raised("0.1"), True),
        (raised(), raised(name="KeyError"), False),
        (raised(), raised("main", "ValueError", "no", OTHER, LIBRARY), False),
        (raised("main", "ValueError", "no", OTHER, USER), raised("main", "ValueError", "no", USER), True),
        (raised("main", "ValueError", "no", USER), raised("main", "ValueError", "no", USER, LIBRARY), True),
        (raised("main", "ValueError", "no", LIBRARY), raised("main", "ValueError", "no"), False),
    ],
)
def test_exceptions_are_the_same_by_type_innermost_user_frame_and_message(
    one: UncaughtException, other: UncaughtException, same: bool
) -> None:
    assert signature_of(ending(one)).same(signature_of(ending(other))) is same


def test_the_text_names_place_and_thread() -> None:
    assert signature_of(ending(raised())).text == "ValueError: no (prog.py:9 in work)"
    in_thread = signature_of(ending(raised("0.1"), status=0))
    assert in_thread.text == "ValueError in thread 0.1: no (prog.py:9 in work)"
    assert in_thread.failed
    long = signature_of(ending(raised(text="a" * 500 + "\nsecond line")))
    assert "second" not in long.text
    assert len(long.text) < 200


def test_a_long_message_says_that_it_goes_on() -> None:
    whole, cut = (signature_of(ending(raised(text="x" * length))).text for length in (120, 121))
    assert f": {'x' * 120} (" in whole
    assert f": {'x' * 117}... (" in cut


def test_the_exception_of_main_counts_before_those_of_threads() -> None:
    both = ending(raised("0.1", "KeyError"), raised("main", "ValueError"))
    assert signature_of(both).text.startswith("ValueError:")


def test_a_text_may_stand_in_the_description_or_anywhere_in_the_message() -> None:
    found = signature_of(ending(raised(text="first\nsecond " + "a" * 500 + " third")))
    for text in ("", "ValueError: first", "second", "third", "in work"):
        assert found.mentions(text)
    assert not found.mentions("fourth")


def test_the_text_sought_is_that_of_the_log_unless_another_is_given() -> None:
    log = replace(log_of([], ending(raised(text="a=1 b=2"))), failure="a=1")
    assert text_sought(log, None) == "a=1"
    assert text_sought(log, "b=2") == "b=2"
    assert text_sought(log, "") == ""
    with pytest.raises(DoesNotFailError, match="a=2") as raised_error:
        text_sought(log, "a=2")
    assert "a=1 b=2" in raised_error.value.message


def test_a_changed_message_is_told_but_for_addresses() -> None:
    one, other = ending(raised(text="a=1 at 0x12")), ending(raised(text="a=2 at 0x12"))
    assert message_changed(one, other) == ("a=1 at 0x12", "a=2 at 0x12")
    assert message_changed(one, ending(raised(text="a=1 at 0x999"))) is None


def test_the_text_decides_about_the_outcome() -> None:
    log = log_of([], ending(raised(text="a=1 b=2")))
    found = ending(raised(text="a=2 b=1"))
    assert outcome_of(found, signature_of(log.ending)) is Outcome.FAIL
    assert outcome_of(found, signature_of(log.ending), "a=1") is Outcome.UNRESOLVED
    assert outcome_of(log.ending, signature_of(log.ending), "a=1") is Outcome.FAIL
    runs = ScheduleRunner(log, None, None, exact=True)  # type: ignore[arg-type]
    assert runs.outcome(log_of([], found)) is Outcome.UNRESOLVED
    assert runs.outcome(log) is Outcome.FAIL
    assert replace(runs, exact=False).outcome(log_of([], found)) is Outcome.FAIL


def test_other_endings() -> None:
    cases = {
        "exit status 3": Ending(status=3),
        "killed by SIGSEGV": Ending(status=None, signal=11, complete=False),
        "killed by signal 77": Ending(status=None, signal=77, complete=False),
    }
    for text, one in cases.items():
        assert signature_of(one).text == text
        assert signature_of(one).failed
    assert not signature_of(Ending(status=3)).same(signature_of(Ending(status=4)))
    assert signature_of(Ending(status=0)).kind == PASSED
    for unknown in (Ending(status=None, timed_out=True, complete=False), Ending(status=0, complete=False)):
        assert signature_of(unknown).kind == UNKNOWN
        assert not signature_of(unknown).failed


def test_deadlocks_are_the_same_if_the_threads_wait_at_the_same_places() -> None:
    def deadlock(*places: tuple[str, Frame]) -> Ending:
        return Ending(status=125, deadlock=tuple(Waiter(thread, "waits", (frame,)) for thread, frame in places))

    one = signature_of(deadlock(("0.1", USER), ("0.2", OTHER)))
    assert one.text == "deadlock of the threads 0.1, 0.2"
    assert one.same(signature_of(deadlock(("0.2", OTHER), ("0.1", USER))))
    assert not one.same(signature_of(deadlock(("0.1", USER), ("0.2", USER))))


def test_library_code_that_a_deadlock_tells_of_is_no_part_of_its_signature() -> None:
    """Its lines differ between Python versions, and older logs do not contain them."""

    def deadlock(*frames: Frame) -> Ending:
        return Ending(status=125, deadlock=(Waiter("0", "waits", (USER,)), Waiter("0.1", "waits", frames)))

    without = signature_of(deadlock())
    assert signature_of(deadlock(LIBRARY)).same(without)
    assert signature_of(deadlock(LIBRARY)).same_but_for_lines(without)
    assert not signature_of(deadlock(USER)).same(without)
    assert not signature_of(deadlock(USER)).same_but_for_lines(without)


def test_outcomes_are_told_by_comparison() -> None:
    failure = signature_of(FAILED)
    assert outcome_of(FAILED, failure) is Outcome.FAIL
    assert outcome_of(Ending(status=0), failure) is Outcome.PASS
    for other in (Ending(status=3), Ending(status=None, timed_out=True), Ending(status=0, complete=False)):
        assert outcome_of(other, failure) is Outcome.UNRESOLVED
    # A failure without anything to compare never matches.
    timed_out = Ending(status=None, timed_out=True)
    assert outcome_of(timed_out, signature_of(timed_out)) is Outcome.UNRESOLVED


def exit_of(text: str = "", *frames: Frame, status: int = 1, where: str = "main", complaints: str = "") -> Ending:
    found = UncaughtException(where, "SystemExit", text, frames or (USER,))
    return Ending(status=status, exit=found, complaints=tuple(complaints.splitlines()))


@pytest.mark.parametrize(
    "one, other, same",
    [
        (exit_of("cannot open account 7"), exit_of("cannot open account 8"), True),
        (exit_of("cannot open account 7"), exit_of("no money left"), False),
        (exit_of("no money left"), exit_of("no money left", OTHER), False),
        (exit_of("no money left"), exit_of("no money left", status=2), False),
        (exit_of("no money left"), exit_of(""), False),
        (exit_of(), exit_of(), True),
        (exit_of(), exit_of("", OTHER), False),
        (exit_of("", USER, LIBRARY), exit_of("", USER), True),
        # Exits with a number.
        (exit_of(complaints="error: full"), exit_of(complaints="error: empty"), False),
        (exit_of(complaints="error: full\nfailed 3 times"), exit_of(complaints="failed 4 times"), True),
        (exit_of(complaints="error: full"), exit_of(), True),
        # An old log knows the status.
        (Ending(status=1), exit_of("no money left"), True),
        (Ending(status=1), exit_of(complaints="error: full"), True),
        (Ending(status=2), exit_of("no money left"), False),
        (Ending(status=1, complaints=("error: full",)), exit_of(complaints="error: empty"), False),
    ],
)
def test_exits_are_the_same_by_status_place_and_what_they_say(one: Ending, other: Ending, same: bool) -> None:
    assert signature_of(one).same(signature_of(other)) is same
    assert signature_of(other).same(signature_of(one)) is same
    assert (outcome_of(one, signature_of(other)) is Outcome.FAIL) is same


def test_exits_of_an_edited_program_are_the_same_in_another_line_with_the_same_message() -> None:
    one = signature_of(exit_of("no money left"))
    assert one.same_but_for_lines(signature_of(exit_of("no money left", OTHER)))
    assert not one.same_but_for_lines(signature_of(exit_of("cannot open", OTHER)))
    assert one.same_but_for_lines(signature_of(Ending(status=1)))


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("no money left for Ann", True),
        ("no money left for Bob", True),
        ("no money left for Bob, Eve", True),  # four words of the longer one's six
        ("no stamps found for Ann", True),  # begins and ends alike
        ("no stamps left by Bob", False),
        ("cannot open", False),
        ("", False),
    ],
)
def test_exits_at_one_line_are_alike_if_most_words_of_the_message_are(text: str, alike: bool) -> None:
    one, other = signature_of(exit_of("no money left for Ann")), signature_of(exit_of(text))
    assert one.same_but_for_message(other) is alike
    assert other.same_but_for_message(one) is alike
    assert not one.same_but_for_message(signature_of(exit_of("no money left for Bob", OTHER)))


def test_the_message_of_an_exception_may_differ_altogether() -> None:
    assert signature_of(ending(raised())).same_but_for_message(signature_of(ending(raised(text="another"))))


def test_the_text_of_an_exit_says_what_the_program_said() -> None:
    assert signature_of(exit_of("no money\nat all")).text == "exit status 1: no money (prog.py:9 in work)"
    assert signature_of(exit_of(where="0.1", status=3)).text == "exit status 3 in thread 0.1 (prog.py:9 in work)"
    written = exit_of(complaints="error: full\nerror: empty")
    assert signature_of(written).text == "exit status 1: error: empty (prog.py:9 in work)"
    assert signature_of(exit_of("no", LIBRARY)).text == "exit status 1: no"
    assert signature_of(exit_of("x" * 200)).text == f"exit status 1: {'x' * 117}... (prog.py:9 in work)"
    assert signature_of(exit_of("no money\nat all")).mentions("at all")


def test_an_exception_of_a_thread_counts_before_the_exit_that_follows() -> None:
    both = replace(exit_of("a thread has failed"), exceptions=(raised("0.1", "KeyError"),))
    assert signature_of(both).same(signature_of(ending(raised("0.1", "KeyError"))))


def test_an_interrupt_that_the_program_raises_itself_has_a_place() -> None:
    interrupted = ending(raised(name="KeyboardInterrupt", text=""), status=None, signal=2)
    assert signature_of(interrupted).text == "KeyboardInterrupt (prog.py:9 in work)"
    assert signature_of(replace(interrupted, signal=11)).text == "killed by SIGSEGV"
    in_thread = ending(raised("0.1", "KeyboardInterrupt"), status=None, signal=2)
    assert signature_of(in_thread).text == "killed by SIGINT"
