"""What was judged, kept in one file for each Python, so that a part can be judged anew."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path

from tests.compatibility.judge import Case

OWN_TESTS = " tests"  # ends the name of a suite that is the tests of a package
FOLDER = Path(__file__).resolve().parent / "results"


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
        """Write everything, one case a line, so that changes can be read; the tests of packages in a file beside it."""
        tested = {suite for suite in self.suites if suite.endswith(OWN_TESTS)}
        self._save(path, self.suites.keys() - tested)
        if tested:
            self._save(_beside(path), tested)

    def _save(self, path: Path, wanted: Set[str]) -> None:
        lines = []
        for suite in sorted(wanted):
            rows = [json.dumps(case.as_json(), sort_keys=True) for _, case in sorted(self.suites[suite].items())]
            lines.append(f"{json.dumps(suite)}: [\n" + ",\n".join(rows) + "\n]")
        suites = ",\n".join(lines)
        listed = {suite: number for suite, number in self.listed.items() if suite in wanted}
        head = f'"version": {json.dumps(self.version)}, "listed": {json.dumps(listed, sort_keys=True)}'
        text = f'{{{head}, "suites": {{\n{suites}\n}}}}\n'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def load(path: Path) -> Results:
    """Read what :meth:`Results.save` wrote; nothing is there yet: no cases."""
    results = Results("")
    for file in (_beside(path), path):
        if file.exists():
            content = json.loads(file.read_text(encoding="utf-8"))
            results.version = content["version"]
            results.listed.update(content["listed"])
            for suite, rows in content["suites"].items():
                results.suites[suite] = {row["name"]: Case.from_json(row) for row in rows}
    return results


def _beside(path: Path) -> Path:
    return path.with_name(path.name.replace("python-", "packages-"))


def file_of(version: str) -> Path:
    """Where the results of a minor version (``3.12``) are."""
    return FOLDER / f"python-{version}.json"
