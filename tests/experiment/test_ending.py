"""Which endings are the same failure, by reports that real programs have printed."""

from __future__ import annotations

import re

import pytest

from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.process import Finished
from replay_dd.outcome import Outcome

FAIL, PASS, UNRESOLVED = Outcome.FAIL, Outcome.PASS, Outcome.UNRESOLVED


def ended(output: str = "", status: int | None = 1, signal: int | None = None, oracle: Oracle | None = None) -> Ending:
    timed_out = status is None and signal is None
    return (oracle or Oracle()).ending(Finished(status, signal, timed_out, 0.5, output.encode()))


def test_exit_status_signal_and_time_limit() -> None:
    assert (ended(status=0).verdict, ended(status=0).words) == (PASS, "exit status 0")
    assert (ended("no\n", 2).verdict, ended("no\n", 2).words) == (FAIL, "exit status 2: no")
    assert ended(status=None, signal=11).words == "killed by SIGSEGV"
    assert ended(status=139).signature == ended(status=None, signal=11).signature, "as a shell says it"
    assert ended(status=1).signature != ended(status=2).signature
    assert (ended(status=None).verdict, ended(status=None).words) == (FAIL, "still running after 0.5 s")


PYTHON = """\
Traceback (most recent call last):
  File "/tmp/x/load.py", line 3, in <module>
    main()
  File "/usr/lib/python3/yaml/constructor.py", line {line}, in construct
    return {{}}[key]
           ~~^^^^^
{error}
"""
JAVA = """\
Exception in thread "main" java.lang.NullPointerException: {}
\tat org.x.Parser.next(Parser.java:{})
\tat A.b()
"""
NODE = "file.js:1\nx\n^\n\nSyntaxError: Unexpected token '{}'\n    at wrapSafe (node:internal:{}:18)\n    at A\n"
ASAN = """\
==123=={}ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602
SUMMARY: AddressSanitizer: heap-buffer-overflow /src/a.c:{} in parse
==123==ABORTING
"""
ICE = "{}: internal compiler error: in f, at g.cc:{}\n"
GO = "panic: runtime error: {}\n\ngoroutine 1 [running]:\n"
# Two outputs of one failure, and one of another.
REPORTS = [
    (PYTHON.format(line=7, error="KeyError: 'a'"), PYTHON.format(line=7, error="KeyError: 'bb'")),
    # The interpreter may warn while it prints.
    (
        PYTHON.format(line=7, error="KeyError: 1"),
        PYTHON.format(line=7, error="<input>:3: SyntaxWarning: odd\nKeyError: 1"),
    ),
    (JAVA.format("a", 5), JAVA.format("b", 5)),
    (NODE.format("a", 5), NODE.format("b", 5)),
    (ASAN.format("", 12), ASAN.format("x", 12)),
    (ICE.format("bug.c:3:1", 12), ICE.format("bug.c:1:9", 12)),
    ("jq: a.c:10: f: Assertion `x > 0' failed.\n", "warning\njq: a.c:10: f: Assertion `x > 0' failed.\n"),
    ("thread 'main' panicked at src/a.rs:4:9:\nno 3\n", "thread 'main' panicked at src/a.rs:4:9:\nno 4\n"),
    (GO.format("index out of range [5] with length 3"), GO.format("index out of range [1] with length 0")),
]
OTHERS = [
    PYTHON.format(line=8, error="KeyError: 'a'"),
    PYTHON.format(line=8, error="KeyError: 1"),
    JAVA.format("a", 6),
    NODE.format("a", 6),
    ASAN.format("", 13),
    ICE.format("bug.c:3:1", 13),
    "jq: a.c:11: f: Assertion `x > 0' failed.\n",
    "thread 'main' panicked at src/a.rs:5:9:\nno 3\n",
    GO.format("invalid memory address or nil pointer dereference"),
]


@pytest.mark.parametrize(
    ("one", "same", "other"), [(*pair, other) for pair, other in zip(REPORTS, OTHERS, strict=True)]
)
def test_crash_reports(one: str, same: str, other: str) -> None:
    assert ended(one).signature == ended(same).signature
    assert ended(one).signature != ended(other).signature
    assert ended(one).signature != ended(one, status=2).signature
    assert ended(one).signature != ended("nothing known").signature


def test_a_traceback_may_have_a_heading_of_its_own() -> None:
    """As compilers write it below what they compiled."""
    traceback = PYTHON.format(line=7, error="KeyError: 1")
    frames = traceback.partition(":\n")[2]
    headed = ended(f"Error compiling a\n\nTraceback of the crash from here on:\n{frames}")
    assert (headed.is_report, headed.signature) == (True, ended(traceback).signature)
    assert not ended(f"Not compiled:\n{frames}").is_report
    assert not ended("No traceback of this kind:\n  Something: else\nKeyError: 1\n").is_report


def test_the_last_traceback_counts_and_its_innermost_frame() -> None:
    first, last = PYTHON.format(line=7, error="KeyError: 'a'"), PYTHON.format(line=9, error="ValueError: b")
    both = ended(f"{first}\nDuring handling of the above exception, another exception occurred:\n\n{last}")
    assert both.signature == ended(last).signature
    assert both.words == "ValueError: b (constructor.py:9 in construct) (exit status 1)"


def test_messages_tell_failures_apart_but_for_what_is_in_the_input() -> None:
    oracle = Oracle().about(b"alpha=1; while beta")

    def signature(error: str, part: bytes = b"") -> str:
        output = PYTHON.format(line=7, error=f"ParseError: {error}").encode()
        return oracle.ending(Finished(1, None, False, 0.5, output), part).signature

    assert signature("line 3: unknown name alpha") == signature("line 40: unknown name 'x y'")
    assert signature("unknown name alpha") != signature("unexpected end")
    assert signature("unknown name alpbeta", b"alpbeta") == signature("unknown name alpha"), "joined from two parts"
    assert signature("unknown name gamma") != signature("unknown name alpha")
    assert oracle.about(b"gamma") == oracle, "the first inputs count"
    deep = [PYTHON.format(line=7, error=f"RecursionError: maximum depth {why}") for why in ("in a call", "comparing")]
    assert ended(deep[0], oracle=oracle).signature == ended(deep[1], oracle=oracle).signature


def test_a_stack_that_overflows_elsewhere_is_the_same_failure() -> None:
    one, other = (PYTHON.format(line=line, error="RecursionError: maximum depth") for line in (7, 8))
    assert ended(one).signature == ended(other).signature


def test_what_is_said_beside_a_good_end_is_no_failure() -> None:
    assert ended(PYTHON.format(line=7, error="KeyError: 'a'"), status=0).verdict is PASS


def test_a_pattern() -> None:
    oracle = Oracle(re.compile(b"sorry|no way$", re.MULTILINE))
    found = ended("a\nbug.c:1: sorry, no\nb\n", 0, oracle=oracle)
    assert (found.verdict, found.signature, found.words) == (FAIL, "match", "the output has: bug.c:1: sorry, no")
    assert ended("no way\nb", oracle=oracle).signature == "match"
    assert (ended("fine", 0, oracle=oracle).verdict, ended("else", 1, oracle=oracle).verdict) == (PASS, UNRESOLVED)
    assert ended("else", 1, oracle=oracle).signature != "match"
    assert ended(status=None, signal=11, oracle=oracle).verdict is UNRESOLVED
    assert ended(status=None, oracle=oracle).verdict is UNRESOLVED


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(0, PASS), (1, FAIL), (124, FAIL), (127, FAIL), (125, UNRESOLVED), (128, UNRESOLVED), (255, UNRESOLVED)],
)
def test_a_script_judges_as_for_git_bisect(status: int, verdict: Outcome) -> None:
    assert ended(status=status, oracle=Oracle(script=True)).verdict is verdict


def test_a_script_that_is_killed_or_does_not_end_gives_no_verdict() -> None:
    assert ended(status=None, signal=9, oracle=Oracle(script=True)).verdict is UNRESOLVED
    assert ended(status=None, oracle=Oracle(script=True)).verdict is UNRESOLVED
    assert (
        ended(status=1, oracle=Oracle(script=True)).signature == ended(status=2, oracle=Oracle(script=True)).signature
    )


@pytest.mark.parametrize(
    ("output", "kinds", "leads"),
    [
        ('jq: error (at x:3): Cannot index number with "price"\n', ["jq error at Cannot index number with"], False),
        ("x.c:1:2: warning: unused\nx.c:3:4: error: no 'a'\n  code ^\nx.c:9: error: gone\n", None, True),
        ("reading x\n3 done\n", ["done", "reading"], False),
        ("warning: missing value\n0 errors\n", [], False),
    ],
)
def test_what_a_program_complains_of(output: str, kinds: list[str] | None, leads: bool) -> None:
    ending = ended(output, oracle=Oracle(inputs=(b"x y",)))
    assert list(ending.complaints) == (["error no", "error gone"] if kinds is None else kinds)
    assert (ending.signature, ending.leads) == ("exit status 1", leads)


def test_what_is_told_is_the_first_complaint_or_the_last_line_with_words() -> None:
    assert ended("begun\nAttributeError: no size\nExiting.\nPlease report\n").words.endswith(
        ": AttributeError: no size"
    )
    assert ended("begun\nfoo bar\n    ^\n").words == "exit status 1: foo bar"


def test_messages_are_compared_without_numbers_and_quotes() -> None:
    assert ended("line 3: no 'a'\n").message == ended("line 40: no 'bb'\n").message
    assert ended("line 3: no 'a'\n").message != ended("line 3: why 'a'\n").message


def test_a_quote_that_is_opened_twice_begins_the_second_time() -> None:
    """Otherwise, the end of each of many open ones would be looked for."""
    one, same, other = (ended(f"no “{word} “{name}” there\n").message for word, name in ("ax", "ay", "bx"))
    assert one == same != other


def test_colors_are_not_shown() -> None:
    assert ended("\x1b[1;31merror: no \x07bell\x1b[0m\n").words == "exit status 1: error: no �bell"


def test_the_summary_of_pytest() -> None:
    summary = "=== short test summary info ===\nFAILED tests/test_a.py::test_x[1] - assert 1 == 2\n1 failed"
    first = ended(f"{summary} in 0.12s\n")
    assert first.words == "FAILED tests/test_a.py::test_x[1] - assert 1 == 2 (exit status 1)"
    assert first.signature == ended(f"{summary} in 3.40s\n").signature
    assert first.message == ended(f"{summary}, 3 passed in 3.40s\n").message
    assert first.message != ended(f"{summary} in 0.12s\n".replace("assert", "why")).message
    assert first.signature != ended(f"{summary}\n".replace("test_x", "test_y")).signature
    assert first.signature != ended("ERROR tests/test_a.py - ImportError: no\n").signature
    assert first.is_report


@pytest.mark.once
@pytest.mark.parametrize(
    "output",
    [
        "\0" * 2_000_000,
        "a" * 2_000_000,
        "‘" * 2_000_000,
        "error: " + "“" * 2_000_000,
        "fatal error: a\n" * 100_000,
        "a.b: c\n" * 200_000,
        "thread 'a' panicked at 'b', " * 50_000,
        "\n" * 2_000_000,
        "Assertion `" + "a" * 2_000_000,
        "Traceback (most recent call last):\n" + "  x:1: SyntaxWarning: y\n" * 100 + "!",
    ],
    ids=["nulls", "letters", "quotes", "open quotes", "panic", "heads", "threads", "lines", "assertion", "warnings"],
)
def test_an_output_with_much_data_is_read_soon(output: str) -> None:
    """With time that grows as the square of a line's length, or worse, this would take hours."""
    oracle = Oracle().about(b"some input")
    assert ended(output, 4, oracle=oracle).words.startswith("exit status 4")


def test_a_message_with_all_the_data_is_compared_by_its_beginning_and_its_end() -> None:
    whole = " ".join(f"item{'abcdefgh'[one % 8] * (2 + one // 8)}" for one in range(800))
    oracle = Oracle().about(whole.encode())

    def signature(data: str) -> str:
        return ended(PYTHON.format(line=7, error=f"ValueError: bad {data} in order"), oracle=oracle).signature

    assert len(whole) > 40_000
    assert signature(whole) == signature("itemaa itembb") != signature("itemaa of another kind")


def test_lines_of_the_input_do_not_count() -> None:
    def signature(name: str, line: int, tool: str = "tool.py") -> str:
        frames = f'  File "/opt/{tool}", line 5, in run\n  File "{name}", line {line}, in f\n'
        return ended(f"Traceback (most recent call last):\n{frames}KeyError: 1\n", 1, oracle=oracle).signature

    oracle = Oracle().named(["in/a.py", "b.c"])
    assert signature("in/a.py", 3) == signature("in/a.py", 4)
    assert signature("/usr/in/a.py", 3) != signature("/usr/in/a.py", 4)
    assert signature("other.py", 3) != signature("other.py", 4)
    failed = [ended(f"b.c:{line}: main: Assertion `p' failed.", 134, oracle=oracle).signature for line in (3, 4)]
    assert failed[0] == failed[1]


def test_what_python_suggests_does_not_count() -> None:
    """It depends on which names are left, not on the failure."""

    def ending(error: str) -> Ending:
        return ended(PYTHON.format(line=7, error=error), oracle=Oracle().about(b""))

    for name, *suggestions in [
        ("NameError: name 'tl' is not defined", ". Did you mean: 't'?", ". Did you forget to import 'tl'?"),
        ("NameError: name 'io' is not defined", ". Did you mean: 'id'? Or did you forget to import 'io'?"),
        ("TypeError: f() got an unexpected keyword argument 'x'", ". Did you mean 'y'?"),
    ]:
        for suggestion in suggestions:
            assert ending(name).signature == ending(name + suggestion).signature
            assert ending(name).message == ending(name + suggestion).message
    line = "ParseError: from 'c.ini' [line {}]"
    assert ending(line.format(" 3")).message == ending(line.format("604")).message, "numbers may be padded"
    asked = "ValueError: two questions. Did you pay? Did you mean it?"
    assert ending(asked).signature != ending("ValueError: two questions").signature


def test_a_built_in_type_in_a_message_counts() -> None:
    def signature(kind: str, known: bytes = b"") -> str:
        error = f"AttributeError: '{kind}' object has no attribute 'x'"
        return ended(PYTHON.format(line=7, error=error), oracle=Oracle().about(known)).signature

    assert signature("Cart") == signature("Shop")
    assert signature("Cart") != signature("NoneType") != signature("int")
    assert signature("int", b"int") == signature("Cart"), "the input may say so itself"


def test_the_attribute_that_is_missing_counts() -> None:
    def signature(name: str, known: bytes = b"") -> str:
        error = f"AttributeError: 'bytes' object has no attribute '{name}'"
        return ended(PYTHON.format(line=7, error=error), oracle=Oracle().about(known)).signature

    assert signature("data") != signature("port"), "one line may look up both"
    assert signature("data", b"data") == signature("port", b"port"), "the input may say so itself"


def test_an_exception_of_the_reduced_program_is_told_by_its_message() -> None:
    def ending(message: str, file: str = "a.py", line: int = 3) -> Ending:
        report = f'Traceback (most recent call last):\n  File "{file}", line {line}, in f\nAttributeError: {message}\n'
        return ended(report, oracle=Oracle().named(["a.py"], [b"shop = None\n"]))

    circle = "partially initialized module 'shop.model' has no attribute 'x' (most likely due to a circular import)"
    assert ending(circle).is_like(ending(circle, line=4))
    assert not ending(circle).is_like(ending("'NoneType' object has no attribute 'x'"))
    assert ending("no shop").is_like(ending("no")), "what it says of the program may change with the program"
    # The place in a tool tells enough, and what the tool says may be about anything in the program.
    assert ending(circle, "tool.py").is_like(ending("'NoneType' object has no attribute 'x'", "tool.py"))


def test_where_a_report_has_no_place_that_of_the_crash_counts() -> None:
    output = b"terminate called after throwing an instance of 'std::out_of_range'\n  what():  map::at\n"
    one, other = (
        Oracle().ending(Finished(None, 6, False, 0.1, output, place)) for place in ("p+0x1: f (p.cpp:3)", "p+0x9")
    )
    said = output.decode().splitlines()[0]
    assert one.words == f"{said} (p+0x1: f (p.cpp:3)) (killed by SIGABRT)"
    assert (one.said, other.said) == (said, said)
    assert one.signature != other.signature


def test_the_crash_of_what_a_program_starts_is_told_with_its_status() -> None:
    ending = Oracle().ending(Finished(3, None, False, 0.1, b"no report made\n", "SIGSEGV in p+0x1"))
    assert ending.words == "exit status 3: SIGSEGV in p+0x1: no report made"
    assert not ending.is_like(Oracle().ending(Finished(3, None, False, 0.1, b"no report made\n", "SIGSEGV in p+0x2")))
