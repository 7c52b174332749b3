"""Reduces calls of the standard library with ``DeltaDebugger`` and with the class of the Debugging Book; prints JSON.

The argument is JSON: the folder of the package to measure.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import datetime
import graphlib
import io
import ipaddress
import json
import re
import sys
import time
import tomllib
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, json.loads(sys.argv[1])["folder"])


# At the top level, where the class of the book finds them.
def brackets(inp: str) -> None:
    if 0 <= inp.find("(") < inp.rfind(")"):
        raise ValueError("Invalid input")


def numbers_of(rows: list[str]) -> list[int]:
    return [int(row["n"]) for row in csv.DictReader(rows)]


def order_of(edges: list[tuple[int, int]]) -> None:
    sorter: graphlib.TopologicalSorter[int] = graphlib.TopologicalSorter()
    for first, second in edges:
        sorter.add(second, first)
    sorter.prepare()


def networks(text: str) -> list[Any]:
    return [ipaddress.ip_network(one) for one in text.split(",")]


def stored(rows: list[dict[str, Any]], indent: int) -> str:
    return json.dumps(rows, indent=indent)


def loaded(text: str) -> Any:
    return json.loads(text)


def cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions, and arguments with which they fail."""
    rows = [{"id": number, "name": f"n{number}", "tags": ["a", {"x": number}]} for number in range(20)]
    days = [{**row, "at": datetime.date(2025, 1, 1)} if row["id"] == 7 else row for row in rows]
    table = "\n".join(f"[s{number}]\nk{number} = {number}\nl = [1, 2]" for number in range(12))
    marked = "".join(f"<b i='{number}'><c>t{number}</c></b>" for number in range(30))
    tuples = str([{"k": number, "v": (number, "x")} for number in range(20)])
    chain = [(number, number + step) for number in range(40) for step in (1, 3)]
    return {
        "brackets, the example of the book": (brackets, ('V"/+!aF-(V4EOz*+s/Q,7)2@0_',)),
        "json.loads, a missing comma": (loaded, (json.dumps(rows, indent=1).replace('"n13"', '"n13" oops'),)),
        "json.dumps, a date in nested data": (stored, (days, 1)),
        "tomllib.loads, a table twice": (tomllib.loads, (f"{table}\n[s3]\n",)),
        "ElementTree.XML, tags crossed": (ElementTree.XML, (f"<a>{marked.replace('</c></b>', '</b></c>', 1)}</a>",)),
        "ast.literal_eval, a call inside": (ast.literal_eval, (tuples.replace("'v': (9,", "'v': f(9,"),)),
        "csv.DictReader, a word for a number": (numbers_of, (["n,m", *[f"{n},{n}" for n in range(40)], "x,3"],)),
        "ip_network, host bits": (networks, (",".join([f"10.{n}.0.0/16" for n in range(20)] + ["10.1.1.1/8"]),)),
        "graphlib, a cycle": (order_of, ([*chain, (20, 12)],)),
        "re.compile, a group twice": (re.compile, (r"(ab+(?P<n>c[de]*)|x{2,3}(?P<n>y)?)+z",)),
    }


def measured(debugger: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Characters left, tests and milliseconds; or what went wrong."""
    silent = contextlib.redirect_stdout(io.StringIO())
    started = time.perf_counter()
    try:
        with silent:
            with debugger:
                function(*arguments)
            left = debugger.min_args()
    except Exception as error:
        return type(error).__name__
    ms = (time.perf_counter() - started) * 1000
    return f"{sum(len(repr(value)) for value in left.values()):,} / {debugger.tests:,} / {ms:,.0f} ms"


def main() -> None:
    warnings.simplefilter("ignore")
    from debuggingbook.DeltaDebugger import DeltaDebugger as OfTheBook  # type: ignore[import-not-found]

    from replay_dd import DeltaDebugger

    rows = []
    for name, (function, arguments) in cases().items():
        results = [measured(kind(), function, arguments) for kind in (DeltaDebugger, OfTheBook)]
        rows.append([f"{name}, {sum(len(repr(value)) for value in arguments):,}", *results])
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
