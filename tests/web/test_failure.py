"""When two failures of a page are the same."""

from __future__ import annotations

import pytest

from replay_dd.web.failure import ASSERTION, CONSOLE_ASSERTION, SERVER_ERROR, TEXT, Failure, page_error, place_in

STACK = """TypeError: x is null
    at Object.run (http://127.0.0.1:8000/js/app.js?v=3:12:34)
    at http://127.0.0.1:8000/:5:6"""


@pytest.mark.parametrize(
    "stack, place",
    [
        (STACK, "/js/app.js:12:34"),
        ("Error\n    at http://127.0.0.1:8000/:5:6", "/:5:6"),
        ("Error\n    at async work (file:///srv/a.html:1:2)", "/srv/a.html:1:2"),
        ("Error\n    at <anonymous>", ""),
        ("", ""),
    ],
)
def test_the_place_of_an_error(stack: str, place: str) -> None:
    assert place_in(stack) == place


def test_an_error_is_known_by_its_type_and_place() -> None:
    one = page_error("TypeError", "x is null", STACK, 3)
    assert one.summary == "page error: TypeError: x is null (/js/app.js:12:34)"
    assert one.details == STACK
    assert one.same(page_error("TypeError", "y is null", STACK.replace("127.0.0.1:8000", "localhost:9"), 4))
    assert not one.same(page_error("RangeError", "x is null", STACK, 3))
    assert not one.same(page_error("TypeError", "x is null", STACK.replace(":12:34", ":13:34"), 3))
    assert not one.same(None)


def test_a_script_in_the_middle_of_a_page_may_move() -> None:
    page = "http://127.0.0.1:8000/list?page=2"
    stack = f"TypeError: x\n    at show ({page}:7:12)\n    at HTMLButtonElement.onclick ({page}:9:1)"
    message = "Cannot read properties of undefined (reading 'name')"

    def error(words: str = message, where: str = stack) -> Failure:
        return page_error("TypeError", words, where, 3, {page})

    one = error()
    assert one.summary == f"page error: TypeError: {message} (/list:7:12)"
    assert one.same(error(where=stack.replace(":7:12", ":8:700").replace(":9:1", ":10:1")))
    assert not one.same(error(where=stack.replace("show", "sort")))
    assert not one.same(error(message.replace("name", "price")))
    # A function that calls itself does so more or less often.
    assert one.same(error(where=stack.replace("    at HTML", f"    at show ({page}:5:3)\n    at HTML")))
    # A script of its own does not move.
    script = stack.replace(page, "http://127.0.0.1:8000/app.js")
    assert not error(where=script).same(error(where=script.replace(":7:12", ":8:700")))


def test_without_a_place_the_message_counts_but_not_the_data_in_it() -> None:
    one = page_error("Error", "order 17 of 'Ada' is lost", "", 1)
    assert one.same(page_error("Error", "order 4 of 'Bob' is lost", "", 2))
    assert not one.same(page_error("Error", "order 17 of 'Ada' is late", "", 1))
    assert one.details == "Error: order 17 of 'Ada' is lost"


def test_kinds_are_different() -> None:
    failures = [Failure(kind, "same words", "", "", 0) for kind in (ASSERTION, CONSOLE_ASSERTION, TEXT)]
    assert [[one.same(other) for other in failures] for one in failures] == [
        [one is other for other in failures] for one in failures
    ]


def test_servers_that_end_in_another_way_fail_in_another_way() -> None:
    ends = ("ended with status 1", "ended with status 3", "was killed by signal 11", "was killed by signal 9")
    failures = [Failure(SERVER_ERROR, f"the server {end}", "", "", 1) for end in ends]
    assert len({failure.signature for failure in failures}) == 4
    assert failures[0].same(Failure(SERVER_ERROR, "the server ended with status 1", "", "other words", 7))
