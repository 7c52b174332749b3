"""Which step raised what a handler of exceptions handles."""

from __future__ import annotations

import pytest

from replay_dd.schedules.story.handled import handled_by
from tests.schedules.story.ran import Ran, code_of

pytestmark = pytest.mark.once

WITH = ["LOAD_FAST", "BINARY_SUBSCR", "RETURN_VALUE", "PUSH_EXC_INFO", "WITH_EXCEPT_START", "RERAISE"]
HANDLES = code_of("outer", ["CALL", "RETURN_VALUE", "PUSH_EXC_INFO", "STORE_FAST", "RETURN_VALUE"])


def test_an_exception_comes_from_the_innermost_call_that_it_left() -> None:
    ran = Ran(HANDLES, code_of("middle", ["CALL", "RETURN_VALUE"]), code_of("inner", WITH))
    ran.steps("outer", 0)
    ran.steps("middle", 0)
    raised = ran.steps("inner", 0, 1)
    ran.steps("inner", 3, 4, 5)  # the `with` lets go of its lock, and raises again
    assert handled_by(ran.flow, ran.steps("outer", 2)) == raised


def test_a_call_that_returned_has_raised_nothing() -> None:
    ran = Ran(HANDLES, code_of("asked", WITH))
    calls = ran.steps("outer", 0)  # `sorted()`, for instance, which asks code of the program for a key
    ran.steps("asked", 0, 1, 2)
    assert handled_by(ran.flow, ran.steps("outer", 2)) == calls


def test_a_generator_that_waits_has_raised_nothing() -> None:
    ran = Ran(HANDLES, code_of("given", ["LOAD_FAST", "YIELD_VALUE", "RETURN_VALUE"]))
    calls = ran.steps("outer", 0)
    ran.steps("given", 0, 1)
    assert handled_by(ran.flow, ran.steps("outer", 2)) == calls


def test_a_handler_at_the_very_beginning_handles_what_is_not_known() -> None:
    ran = Ran(code_of("outer", ["PUSH_EXC_INFO"]))
    assert handled_by(ran.flow, ran.steps("outer", 0)) is None
