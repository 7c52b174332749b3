"""Builds the optional C accelerator and the description for package indexes; the rest stands in pyproject.toml.

The accelerator makes runs faster, brings the waits of SQLite under the schedule, and keeps what the tool does from
moving the program's objects. Where its source or a C compiler is missing, the package is installed without it. With
`REPLAY_DD_PURE=1` in the environment it is left out, and the wheel fits every Python.
"""

import _imp
import os
import re
from pathlib import Path

from setuptools import Extension, setup

ROOM = "replay_dd/schedules/runtime/accelerator/"
PARTS = (
    *("_accelerator", "clocks", "counting", "deaths", "fast_exit", "file_times", "frame_values", "interpreters"),
    *("library_entropy", "library_memory", "library_tables", "lock_makers", "locks", "observing", "operation_places"),
    *("operation_positions", "own_memory", "pipes", "processors", "regions", "sqlite", "sqlite_mutex"),
    *("stuck_calls", "tables", "visits", "written_pages"),
)
SOURCES = [f"{ROOM}{part}.c" for part in PARTS]
HEADERS = [f"{ROOM}{part}.h" for part in ("_accelerator", "constants", "library_entropy", "regions")]
INTERFACE = ROOM + "_accelerator.pyi"
HERE = Path(__file__).parent


def fingerprint(*names: str) -> str:
    """The interpreter's hash of these files, in C quotes."""
    return '"' + _imp.source_hash(0, b"".join((HERE / name).read_bytes() for name in names)).hex() + '"'


def description() -> str:
    """The README as a package index shows it: there, links to other files of the project would lead nowhere."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n?", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]*)\]\((?!https?:|#)([^)]*)\)", r"\1 (`\2` in the source archive)", text)


def extensions() -> list[Extension]:
    if os.environ.get("REPLAY_DD_PURE") == "1" or not (HERE / SOURCES[0]).exists():
        return []
    # What is imported tells what it was built from: an editable installation may have an older one beside its source.
    macros = [("INTERFACE", fingerprint(INTERFACE)), ("SOURCE", fingerprint(*HEADERS, *SOURCES))]
    # Three parts depend on the insides of the interpreter and of SQLite; docs/explanation/decisions tell what they buy.
    # To install without: REPLAY_DD_WITHOUT="FRAMES OWN_MEMORY SQLITE" pip install .
    macros += [(f"WITHOUT_{part}", "1") for part in os.environ.get("REPLAY_DD_WITHOUT", "").split()]
    name = "replay_dd.schedules.runtime.accelerator._accelerator"
    # `optional`: a build that fails is told and does not stop the installation.
    return [Extension(name, SOURCES, define_macros=macros, depends=[*HEADERS, INTERFACE], optional=True)]


setup(long_description=description(), long_description_content_type="text/markdown", ext_modules=extensions())
