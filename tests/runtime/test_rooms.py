"""The rooms of the runtime, and the modules in them, have no circles, not even where only types are imported."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import replay_dd.schedules.runtime as runtime

RUNTIME = Path(runtime.__file__).parent


def modules() -> dict[str, set[str]]:
    """The modules of the runtime, by their names relative to it, each with those that it imports."""
    found = {}
    for path in RUNTIME.rglob("*.py"):
        if path.parent.name == "site":
            continue
        name = ".".join(path.relative_to(RUNTIME).with_suffix("").parts).removesuffix(".__init__")
        package = name.split(".")[:-1] if path.name != "__init__.py" else name.split(".")
        found[name] = imported(ast.parse(path.read_text(encoding="utf-8")), package)
    names = set(found)
    return {name: {module_of(one, names) for one in imports} - {name, ""} for name, imports in found.items()}


def imported(tree: ast.Module, package: list[str]) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) + 1 - node.level] + (node.module.split(".") if node.module else [])
            names |= {".".join([*base, alias.name]) for alias in node.names}
    return names


def module_of(name: str, names: set[str]) -> str:
    """The module that a name is in, or is."""
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name


def assert_no_circle(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a circle: " + " -> ".join(reversed(error.args[1])))


def test_modules_import_each_other_in_no_circle() -> None:
    graph = modules()
    assert graph["start"]
    assert "baton.scheduler" in graph["baton.stuck_calls"]
    assert_no_circle(graph)


def test_rooms_import_each_other_in_no_circle() -> None:
    rooms: dict[str, set[str]] = {}
    for name, imports in modules().items():
        room = name.partition(".")[0]
        rooms.setdefault(room, set()).update({one.partition(".")[0] for one in imports} - {room})
    assert "baton" in rooms["stdlib"]
    assert_no_circle(rooms)
