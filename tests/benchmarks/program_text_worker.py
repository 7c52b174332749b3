"""Reduces a program with the syntax tree reducer of the Debugging Book: ``program_text_worker.py TEST FILE``.

The chapter compiles and runs what is left; here it is printed and given to a test. Its recursion needs room.
"""

from __future__ import annotations

import ast
import contextlib
import io
import subprocess
import sys
from pathlib import Path

sys.setrecursionlimit(100_000)


def main() -> None:
    test, file = sys.argv[1:]
    with contextlib.redirect_stdout(io.StringIO()):
        from debuggingbook import DeltaDebugger as chapter  # type: ignore[import-not-found]

    tree = ast.parse(Path(file).read_bytes())
    candidate = Path(file).with_name("candidate.py")

    def check(keep_list: list[ast.AST]) -> None:
        text = ast.unparse(chapter.copy_and_reduce(tree, keep_list))
        ast.parse(text)
        candidate.write_text(text + "\n")
        if subprocess.call([test, str(candidate)]) == 0:
            raise AssertionError("it fails")

    nodes = chapter.NodeCollector().collect(tree)
    with chapter.DeltaDebugger() as debugger:
        check(nodes)
    debugger.min_args()


if __name__ == "__main__":
    main()
