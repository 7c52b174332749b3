"""Inputs that break real programs: old releases of libraries on documents, a compiler on a program, troff on noise.

Rules of this module:

* Every input is made here, the same each time: nothing is taken from other projects.
* A program's failure is told by what it prints last, so that each reducer looks for the same one.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.harness import CHECKOUT

REQUIREMENTS = (
    "PyYAML==6.0.3",
    "cssutils==1.0.2",
    "hjson==3.1.0",
    "html2text==2020.1.16",
    "sqlglot==11.0.0",
    "toml==0.10.2",
)
_DEMOS = CHECKOUT / "demos" / "input"
_WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heath",
    "inlet",
    "juniper",
    "kestrel",
    "linden",
    "meadow",
    "north",
    "orchard",
]
_PROGRAMS = {
    "catalog.html": ("import html2text, sys; html2text.html2text(open(sys.argv[1]).read())", "AssertionError"),
    "readings.json": ("import hjson, sys; hjson.load(open(sys.argv[1]))", "OverflowError: cannot convert float"),
    "project.toml": ("import sys, toml; toml.load(sys.argv[1])", "IndexError: string index out of range"),
    "queries.sql": ("import sqlglot, sys; sqlglot.transpile(open(sys.argv[1]).read())", "IndexError: string index"),
    "theme.css": (
        "import cssutils, logging, sys; cssutils.log.setLevel(logging.FATAL); "
        "cssutils.parseString(open(sys.argv[1]).read(), validate=False)",
        "ValueError: not enough values to unpack",
    ),
}


@dataclass(frozen=True)
class Case:
    """An input, and a shell command that succeeds if its argument $1 is interesting."""

    name: str
    content: bytes
    command: str


def cases(python: Path) -> list[Case]:
    """All of them.

    Args:
        python: the interpreter that has the libraries.
    """
    lines = [f'<td align=left valign=top nowrap="x{number}">' for number in range(896)]
    lines[600] = '<SELECT NAME="priority" MULTIPLE SIZE=7>'
    noise = bytes(33 + (number * number + number // 7) % 80 for number in range(10_000)).replace(b"~", b"_")
    noise = noise[:2_000] + b"~" + noise[2_000:9_000] + b"~" + noise[9_000:]
    load = f'{python} {_DEMOS / "load.py"} "$1" 2>&1 | grep -q "day is out of range"'
    found = [
        Case("page.html", "\n".join(lines).encode() + b"\n", "grep -q '<SELECT.*>' \"$1\""),
        Case("noise.txt", noise, "grep -q '~.*~' \"$1\""),
        Case("services.yaml", (_DEMOS / "services.yaml").read_bytes(), load),
    ]
    if shutil.which("g++"):
        compiled = 'g++ -x c++ -fsyntax-only "$1" 2>&1 | grep -q "sorry, unimplemented"'
        found.append(Case("automaton.c", (_DEMOS / "automaton.c").read_bytes(), compiled))
    for name, text in _documents().items():
        program, says = _PROGRAMS[name]
        found.append(Case(name, text.encode(), f"{python} -c '{program}' \"$1\" 2>&1 | tail -n 1 | grep -q '{says}'"))
    if shutil.which("troff"):
        crashes = 'troff <"$1" >/dev/null 2>&1; test $? -gt 128'
        found.append(Case("random.roff", _random_characters(), crashes))
    return found


def _random_characters() -> bytes:
    """100,000 printable characters, on which troff 1.22.4 crashes, as troff did in section 5 of ISSTA 2000."""
    return bytes(random.Random(13).choices(bytes((9, 10, *range(32, 127))), k=100_000))


def _documents() -> dict[str, str]:
    chance = random.Random(1)

    def name() -> str:
        return f"{chance.choice(_WORDS)}-{chance.randint(10, 99)}"

    return {
        "catalog.html": _catalog(name),
        "readings.json": _readings(name, chance),
        "project.toml": _project(name),
        "queries.sql": _queries(name),
        "theme.css": _theme(name),
    }


def _catalog(name: Callable[[], str]) -> str:
    """A page with an image whose address has no value."""
    rows = []
    for number in range(120):
        source = "src" if number == 77 else f'src="/img/{name()}.png"'
        rows.append(
            f'<li class="item" id="{name()}">\n  <a href="/goods/{name()}">\n'
            f'    <img {source} alt="{name()}">\n  </a>\n'
            f"  <p>The <b>{name()}</b> of <i>{name()}</i>, with {name()}.</p>\n"
            f"  <table><tr><th>Price<th>Weight<tr><td>{number}.50<td>{number} g</table>\n</li>"
        )
    menu = "\n".join(f'<a href="#{name()}">{name()}</a> |' for _ in range(20))
    return (
        "<!DOCTYPE html>\n<html><head><title>Goods</title></head>\n<body>\n<nav>\n"
        f"{menu}\n</nav>\n<ul>\n" + "\n".join(rows) + "\n</ul>\n</body></html>\n"
    )


def _readings(name: Callable[[], str], chance: random.Random) -> str:
    """Readings, one of which is out of the range of floating-point numbers."""
    records = [
        {
            "station": name(),
            "position": {"latitude": round(chance.uniform(-90, 90), 4), "longitude": round(chance.uniform(0, 180), 4)},
            "values": [round(chance.gauss(10, 5), 2) for _ in range(6)],
            "checked": number % 3 == 0,
            "remark": None if number % 4 else f"moved to {name()}",
        }
        for number in range(60)
    ]
    text = json.dumps({"version": 3, "readings": records}, indent=2)
    at = text.index('"checked"', len(text) * 2 // 3)
    at = text.rindex("]", 0, at)
    return text[:at].rstrip() + ",\n        8e999\n      " + text[at:]


def _project(name: Callable[[], str]) -> str:
    """Settings with an empty key in an inline table."""
    tables = []
    for number in range(60):
        table = [f"[tool.{name()}]", f'name = "{name()}"  # {name()}', f"level = {number}", "enabled = true"]
        table.append(f'paths = ["{name()}/src", "{name()}/tests"]')
        key = "" if number == 41 else "low "
        table.append(f"limits = {{{key}= {number}, high = {number * 2}}}")
        tables.append("\n".join(table))
    return '[project]\nname = "goods"\nversion = "1.0"\n\n' + "\n\n".join(tables) + "\n"


def _queries(name: Callable[[], str]) -> str:
    """Statements, one of which begins a comment that does not end."""

    def word() -> str:
        return name().replace("-", "_")

    statements = []
    for number in range(70):
        table = word()
        columns = ", ".join(f"{word()} {kind}" for kind in ("integer", "varchar(20)", "decimal(10, 2)"))
        statements.append(f"CREATE TABLE {table} (\n  id integer PRIMARY KEY,\n  {columns}\n);")
        statements.append(f"INSERT INTO {table} VALUES ({number}, {number % 7}, '{name()}', {number}.25);")
        comment = f"/* {name()} * /" if number == 50 else f"/* {name()} */" if number < 50 else ""
        statements.append(
            f"SELECT {word()}, count(*) AS n {comment}\nFROM {table} AS t LEFT JOIN {word()} AS u ON t.id = u.id\n"
            f"WHERE t.{word()} IN (1, 2, {number}) AND NOT u.{word()} LIKE '{name()}%'\n"
            f"GROUP BY {word()} HAVING count(*) > {number} ORDER BY 1;"
        )
    return "\n\n".join(statements) + "\n"


def _theme(name: Callable[[], str]) -> str:
    """Rules, one of which has a color with too few numbers."""
    rules = []
    for number in range(110):
        color = f"rgb({number}, {number})" if number == 60 else f"rgb({number}, {number}, 20)"
        rules.append(
            f".{name()} > a:hover, #{name()} {{\n  color: {color};\n  margin: {number}px auto;\n"
            f"  background: url('{name()}.png') no-repeat;\n}}"
        )
    return "@media screen {\n  p { margin: 0 }\n}\n" + "\n".join(rules) + "\n"
