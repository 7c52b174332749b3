"""What was judged so far, kept below `build/` in one file for each Python, so that a judgement can be resumed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.compatibility.judge import Case
from tests.conftest import PROJECT

OWN_TESTS = " tests"  # ends the name of a suite that is the tests of a package
FOLDER = PROJECT / "build" / "compatibility" / "results"


@dataclass
class Results:
    """The cases of one Python, by suite.

    Attributes:
        version: of the interpreter, whole.
        suites: for each suite (a test module or a package with its version) its cases by name.
        listed: for each suite how many cases there are, judged or not.
    """

    version: str
    suites: dict[str, dict[str, Case]] = field(default_factory=dict)
    listed: dict[str, int] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write everything."""
        suites = {suite: [case.as_json() for case in cases.values()] for suite, cases in self.suites.items()}
        content = {"version": self.version, "listed": self.listed, "suites": suites}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Read what :meth:`Results.save` wrote; nothing is there yet: no cases."""
    if not path.exists():
        return Results("")
    content = json.loads(path.read_text(encoding="utf-8"))
    suites = {suite: {row["name"]: Case.from_json(row) for row in rows} for suite, rows in content["suites"].items()}
    return Results(content["version"], suites, content["listed"])


def file_of(version: str) -> Path:
    """Where the results of a minor version (``3.12``) are."""
    return FOLDER / f"python-{version}.json"
