"""The stages on the way to a test: the fixtures of its session, of its module, of its class.

Rules of this module:

* pytest sets up the wider scopes of a test before the narrower ones. So whoever makes the fixtures of a stage, and then
  runs the test, does the same in the same order as a run of that test alone.
* They are made as for a test that needs them and nothing else. pytest keeps them for the next test, as it always does.
* It imports nothing of replay-dd: it is loaded where tests run.
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass
from typing import Any

import pytest

_SCOPES = (("session",), ("package", "module"), ("class",))
_NODES = (pytest.Session, pytest.Module, pytest.Class)
_OF_PYTEST = "_pytest."
_MODULE_AND_CLASS = "_xunit_setup_"  # those of pytest that call `setup_module` and `setup_class`
_CASES = "_unittest_setUpClass_"  # and `setUpClass`, which each class has


@dataclass(frozen=True)
class Stage:
    """What is made before a test begins, and serves others as well.

    Attributes:
        key: equal for tests that need the same.
        node: the session, module or class that it belongs to.
        names: the fixtures up to here, in the order in which they are made.
    """

    key: str
    node: Any
    names: tuple[str, ...]


def stages_of(item: pytest.Item) -> list[Stage]:
    """The stages of a test; none if it needs no wider fixtures, or none but those of pytest, which cost nothing."""
    if not isinstance(item, pytest.Function):
        return []
    stages: list[Stage] = []
    names: list[str] = []
    fixtures = _wider_fixtures(item)
    for scopes, kind in zip(_SCOPES, _NODES, strict=True):
        own = [(name, fixture) for name, fixture in fixtures if fixture.scope in scopes]
        names += [name for name, _ in own]
        node: Any = item.session if kind is pytest.Session else item.getparent(kind)
        if node is not None and any(_is_of_the_suite(item, name, fixture) for name, fixture in own):
            key = " ".join([node.nodeid, *(_version(item, name, fixture) for name, fixture in own)])
            stages.append(Stage(key, node, tuple(names)))
    return stages


def make_fixtures(item: pytest.Item, stage: Stage) -> None:
    """Make the fixtures of a stage, for this test and others.

    Raises:
        BaseException: whatever they raise.
    """
    stands_in: Any = copy.copy(item)
    stands_in.fixturenames = list(stage.names)
    stands_in.listchain = lambda: [*stage.node.listchain(), stands_in]
    stands_in._initrequest()
    capture: Any = item.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.resume_global_capture()
    state: Any = item.session._setupstate
    state.setup(stands_in)
    state.teardown_exact(stage.node)  # as if the next test were to be found below that
    if capture is not None:
        capture.suspend_global_capture()


def _wider_fixtures(item: pytest.Function) -> list[tuple[str, Any]]:
    """Those that come before the first that is made for this test alone, or with its instance."""
    known: Any = item._fixtureinfo.name2fixturedefs
    found: list[tuple[str, Any]] = []
    for name in item.fixturenames:
        if not known.get(name):
            continue  # `request`
        fixture = known[name][-1]
        if fixture.scope == "function" or inspect.ismethod(fixture.func):
            break
        found.append((name, fixture))
    return found


def _is_of_the_suite(item: pytest.Function, name: str, fixture: Any) -> bool:
    if name.startswith(_CASES):
        import unittest  # loaded already

        cls: Any = item.cls
        return cls.setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__  # type: ignore[attr-defined]
    return name.startswith(_MODULE_AND_CLASS) or not str(fixture.func.__module__).startswith(_OF_PYTEST)


def _version(item: pytest.Function, name: str, fixture: Any) -> str:
    """Which fixture of this name it is, and with which parameter."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    parameter = f"={id(parameters[name])}" if name in parameters else ""
    return f"{name}@{id(fixture)}{parameter}"
