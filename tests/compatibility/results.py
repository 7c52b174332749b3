"""What was judged, kept in one file for each Python, so that a part can be judged anew."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from tests.compatibility.judge import Case

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
        """Write everything, one case a line, so that changes can be read."""
        lines = []
        for suite, cases in sorted(self.suites.items()):
            rows = [json.dumps(case.as_json(), sort_keys=True) for _, case in sorted(cases.items())]
            lines.append(f"{json.dumps(suite)}: [\n" + ",\n".join(rows) + "\n]")
        suites = ",\n".join(lines)
        head = f'"version": {json.dumps(self.version)}, "listed": {json.dumps(self.listed, sort_keys=True)}'
        text = f'{{{head}, "suites": {{\n{suites}\n}}}}\n'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def load(path: Path) -> Results:
    """Read what :meth:`Results.save` wrote; nothing is there yet: no cases."""
    if not path.exists():
        return Results("")
    content = json.loads(path.read_text(encoding="utf-8"))
    suites = {suite: {row["name"]: Case.from_json(row) for row in rows} for suite, rows in content["suites"].items()}
    return Results(content["version"], suites, content.get("listed", {}))


def file_of(version: str) -> Path:
    """Where the results of a minor version (``3.12``) are."""
    return FOLDER / f"python-{version}.json"
