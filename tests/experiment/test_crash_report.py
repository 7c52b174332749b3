"""How reports are told: with their place, and all of them where a program goes on."""

from __future__ import annotations

import pytest

from replay_dd.experiment.crash_reports import crash_report, crash_reports


@pytest.mark.parametrize(
    "output, told",
    [
        (
            b"TypeError: Cannot read properties of undefined (reading 'id')\n    at link (/a/b/page.js:8:69)\n",
            "TypeError: Cannot read properties of undefined (reading 'id') (link (page.js:8:69))",
        ),
        (
            b'Exception in thread "main" a.Late: no list\n\tat a.Load.main(Load.java:19)\n'
            b"Caused by: a.Early: Index 2\n\tat a.Read.date(Read.java:15)\n\t... 15 more\n",
            'Exception in thread "main" a.Late: no list '
            "(a.Load.main(Load.java:19), caused by a.Early at a.Read.date(Read.java:15))",
        ),
        (
            b"Late$ListException: no list\n\tat Load.load(Load.java:16)\n"
            b"Caused by: java.util.NoSuchElementException: none\n\tat Load.price(Load.java:12)\n\t... 1 more\n",
            "Late$ListException: no list "
            "(Load.load(Load.java:16), caused by java.util.NoSuchElementException at Load.price(Load.java:12))",
        ),
        (b"thread 'main' panicked at src/main.rs:12:123:\nbad sum\n", "bad sum (main.rs:12:123)"),
        (
            b"panic: bad sum\n\ngoroutine 1 [running]:\nmain.sum(0x1)\n\t/a/sums/main.go:13 +0x154\n",
            "panic: bad sum (main.go:13 in main.sum)",
        ),
        (
            b"PHP Fatal error:  Uncaught TypeError: bad sum in /a/b/sum.php:25\n",
            "PHP Fatal error:  Uncaught TypeError: bad sum in /a/b/sum.php:25",
        ),
        (b"p: sum.c:4: main: Assertion `sum' failed.\n", "sum.c:4: main: Assertion `sum' failed"),
    ],
)
def test_reports_tell_their_place_once(output: bytes, told: str) -> None:
    report = crash_report(output)
    assert report is not None
    assert report.told == told
    assert report.words.encode() in output


def test_of_what_follows_on_each_other_reports_are_told_in_order() -> None:
    raised = b'Traceback (most recent call last):\n  File "a.py", line %d, in f\n    f()\nKeyError: 1\n'
    fatal = b"PHP Fatal error:  Uncaught TypeError: bad sum in /a/sum.php:25\n"
    output = b"start\n" + raised % 1 + fatal + raised % 2 + b"GET /\n"
    found, end = crash_reports(output)
    assert [report.signature for report in found] == [
        "KeyError at a.py:1 in f",
        "TypeError at /a/sum.php:25",
        "KeyError at a.py:2 in f",
    ]
    assert output[end:] == b"\nGET /\n"
    assert crash_reports(b"GET /\n") == ([], 0)
