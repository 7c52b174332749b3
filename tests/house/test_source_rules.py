"""Rules about the text of the sources: their length, what the runtime may import, what must not stand in them."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.house.sources import package_folder, package_sources, text_files
from tools import slow_tests

pytestmark = pytest.mark.once

MOST_LINES = 400
LONGER_BECAUSE = "Longer than 400 lines because"
# Home folders, folders of temporary files with a random name, and folders of a particular machine.
MACHINE_PATHS = re.compile(r"(?<![\w.])(?:/home/\w|/root/|/Users/\w|/work/\w|/tmp/tmp\w|/var/folders/|C:\\Users)")


def sources() -> list[Path]:
    return [path for path in text_files() if path.suffix in {".py", ".c", ".h", ".sh", ".js"}]


def test_files_are_found() -> None:
    names = {path.name for path in text_files()}
    assert {"outcome.py", "conftest.py", "htpasswd.py", "pyproject.toml", "run"} <= names


def test_no_file_is_long_without_a_reason() -> None:
    long = []
    for path in sources():
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > MOST_LINES and LONGER_BECAUSE not in " ".join(lines[:30]):
            long.append(f"{path.name}: {len(lines)} lines")
    assert not long, f"split these, or say at their top: {LONGER_BECAUSE!r} ..."


def test_a_slow_test_that_has_got_another_name_is_called_so_in_the_list_too() -> None:
    sources_of_tests = (path.read_text(encoding="utf-8") for path in sources() if path.name.startswith("test_"))
    there = {name for text in sources_of_tests for name in re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)}
    assert not slow_tests.listed() - there


def test_no_path_of_a_particular_machine() -> None:
    found = []
    for path in text_files():
        if path == Path(__file__):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MACHINE_PATHS.search(line):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert not found


@pytest.mark.parametrize("path", package_sources("replay_dd"), ids=lambda path: path.name)
def test_public_modules_say_what_they_are(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path} has no docstring"


def runtime_modules() -> list[Path]:
    return sorted((package_folder("replay_dd") / "schedules" / "runtime").rglob("*.py"))


def test_the_runtime_is_there() -> None:
    assert runtime_modules()


@pytest.mark.parametrize("path", runtime_modules(), ids=lambda path: path.name)
def test_the_runtime_imports_the_standard_library_only(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    foreign = [name for name in imported(tree) if not allowed_in_runtime(name)]
    assert not foreign


# What tells versions of the interpreter apart; a private name that is tried for stands as a string.
VERSION_NAMES = {"version_info", "hexversion", "_is_gil_enabled", "opcode", "opmap", "opname", "dis"}
OWN_PRIVATE = {"_holder"}


def version_probes(tree: ast.Module) -> list[str]:
    """The names in a module by which it tells interpreters apart."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found += [node.attr] * (node.attr in VERSION_NAMES)
        elif isinstance(node, ast.ImportFrom):
            found += [node.module] * (node.module in VERSION_NAMES)
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name in VERSION_NAMES]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 1:
            name = node.args[1].value if isinstance(node.args[1], ast.Constant) else ""
            tries = node.func.id == "hasattr" or (node.func.id == "getattr" and len(node.args) == 3)
            is_private = isinstance(name, str) and name.startswith("_") and not name.startswith("__")
            owner = ast.unparse(node.args[0])
            is_private = (
                is_private or (owner.startswith("_") and owner in sys.stdlib_module_names) or name == "monitoring"
            )
            found += [str(name)] * (tries and is_private and name not in OWN_PRIVATE)
    return found


def test_probes_are_found() -> None:
    text = (
        "sys.version_info\nfrom opcode import opmap\nhasattr(_thread, '_shutdown')\ngetattr(a, '_b', None)\nimport dis"
    )
    assert sorted(version_probes(ast.parse(text))) == ["_b", "_shutdown", "dis", "opcode", "version_info"]
    compat = package_folder("replay_dd") / "schedules" / "runtime" / "compat.py"
    assert "version_info" in version_probes(ast.parse(compat.read_text(encoding="utf-8")))


def test_one_module_knows_what_differs_between_interpreters() -> None:
    found = {
        f"{path.name}: {name}"
        for path in (package_folder("replay_dd") / "schedules").rglob("*.py")
        for name in version_probes(ast.parse(path.read_text(encoding="utf-8")))
        if path.name != "compat.py"
    }
    assert not found


def imported(tree: ast.Module) -> list[str]:
    """The full names of the imported modules; relative imports keep their dots."""
    names = []
    # What only a type checker imports costs the target nothing.
    for node in walk_without_type_checking(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append("." * node.level + (node.module or ""))
    return names


def walk_without_type_checking(node: ast.AST) -> list[ast.AST]:
    nodes = [node]
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            for other in child.orelse:
                nodes += walk_without_type_checking(other)
        else:
            nodes += walk_without_type_checking(child)
    return nodes


def allowed_in_runtime(name: str) -> bool:
    if name.startswith("."):
        return not name.startswith("...")  # a room of the runtime is one folder deep
    top = name.partition(".")[0]
    inside = f"{name}.".startswith(("replay_dd.schedules.runtime.", "_replay_dd_runtime."))
    # `sitecustomize` is the environment's own, to which ours gives way.
    return inside or top in sys.stdlib_module_names or name == "sitecustomize"


def test_the_readme_is_there() -> None:
    assert (PROJECT / "README.md").read_text(encoding="utf-8").startswith("# ")
