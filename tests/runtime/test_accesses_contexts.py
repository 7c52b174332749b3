"""What is told of context variables."""

from __future__ import annotations

from contextvars import ContextVar, copy_context

import pytest

from replay_dd.schedules.runtime.accesses.access import Access
from replay_dd.schedules.runtime.accesses.contexts import is_variable, of_variable
from replay_dd.schedules.runtime.accesses.values import MISSING, UNKNOWN

pytestmark = pytest.mark.once

user: ContextVar[str] = ContextVar("user", default="nobody")


def told(name: str, *arguments: object) -> tuple[str, object, object]:
    access = of_variable(user, name, list(arguments), "user")
    assert isinstance(access, Access)
    assert (access.sort, access.holder, access.key, access.name) == ("local", user, "user", "user")
    return access.does, access.old, access.new


def sets_and_resets() -> None:
    assert told("get") == ("reads", MISSING, UNKNOWN)
    assert told("set", "ann") == ("stores", MISSING, "ann")
    first = user.set("ann")
    second = user.set("bob")
    assert told("get", "somebody") == ("reads", "bob", UNKNOWN)
    assert told("reset", second) == ("stores", "bob", "ann")
    assert told("reset", first) == ("stores", "bob", MISSING)
    assert told("reset", "no token") == ("stores", "bob", UNKNOWN)
    assert of_variable(user, "__class_getitem__", [], "user") is None


def test_a_context_variable_is_what_a_thread_has_for_itself() -> None:
    copy_context().run(sets_and_resets)


def test_only_those_of_the_interpreter_are_asked() -> None:
    assert is_variable(user)
    own = type("ContextVar", (), {})
    assert not is_variable(own())
