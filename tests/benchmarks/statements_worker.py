"""Runs the dynamic slicer of The Debugging Book on a program, and prints the lines that a variable depends on."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import types
import warnings
from pathlib import Path
from typing import Any


def main() -> None:
    asked = json.loads(sys.argv[1])
    folder = Path(asked["folder"])
    sys.path.insert(0, str(folder))
    warnings.simplefilter("ignore")
    from debuggingbook import Slicer

    tracker = Slicer.DependencyTracker(log=0)
    slicer = Slicer.Slicer(main, dependency_tracker=tracker, globals={})
    names: dict[str, str] = {}

    def load(name: str, file: str) -> None:
        module: Any = types.ModuleType(name)
        sys.modules[name] = module
        path = str(folder / file)
        names[path] = file
        module._data = tracker
        exec(compile(slicer.transform(ast.parse(Path(path).read_text())), path, "exec"), module.__dict__)

    error = ""
    try:
        load(f"own_{asked['name']}", f"own_{asked['name']}.py")
        with contextlib.redirect_stdout(io.StringIO()):
            load("main", "main.py")
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}"
    found = tracker.dependencies()
    wanted = [node for node in found.data if node[0] == "answer" and node[1][1] == asked["line"]]
    lines = set()
    if wanted and not error:
        sliced = found.backward_slice(*wanted).data
        for node in [*sliced, *(one for some in sliced.values() for one in some)]:
            function, line = node[1]
            code = getattr(function, "__code__", None)
            file = names.get(code.co_filename, "main.py") if code is not None else "main.py"
            lines.add((file, line))
    print(json.dumps({"lines": sorted(lines), "error": error}))


if __name__ == "__main__":
    main()
