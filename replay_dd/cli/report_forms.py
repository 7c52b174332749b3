"""The forms in which an answer is told: what is printed, and what is written to files besides.

Rules of this module:

* One form is printed. Without any of these options, it is the whole text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.cli.highlight import echo_highlighted
from replay_dd.cli.options import PRINTED
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.errors.user import UsageError
from replay_dd.files import write_whole
from replay_dd.trust.printable import printable

_LEAST_WIDTH = 80


class Form(NamedTuple):
    """One form of an answer.

    Attributes:
        option: the option that asks for it.
        asked: whether it is asked for: True to print it, or the path of its file; False or None if it is not.
        lines: makes its lines; or the object of ``--json``.
        colored: whether it may have colors when it is printed.
    """

    option: str
    asked: bool | Path | None
    lines: Callable[[], Iterable[str] | dict[str, Any]]
    colored: bool = False

    @property
    def printed(self) -> bool:
        """Whether it is printed."""
        return self.asked is True or self.asked == PRINTED


def check_forms(**asked: bool | Path | None) -> None:
    """Check that at most one form is to be printed; names are those of options, with ``_`` for ``-``.

    Raises:
        UsageError: several are.
    """
    printed = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value is True or value == PRINTED]
    if len(printed) > 1:
        raise UsageError(
            f"Only one form can be printed, not both `{printed[0]}` and `{printed[1]}`.",
            "Write a file with `--markdown FILE` or `--mermaid FILE`, and print another form.",
        )


def tell(forms: Iterable[Form], whole: Callable[[], Iterable[str]]) -> None:
    """Print one form and write the others to their files.

    Args:
        forms: all forms that could be asked for.
        whole: the whole text, which is printed if no other form is.

    Raises:
        OutputError: a file cannot be written.
    """
    printed = False
    for form in forms:
        if form.printed:
            printed = True
            told = form.lines()
            if isinstance(told, dict):
                echo_json(told)
            elif form.colored:
                echo_highlighted(told)
            else:
                echo_lines(told)
        elif isinstance(form.asked, Path):
            lines = form.lines()
            assert not isinstance(lines, dict)
            text = "".join(f"{printable(line, keep=chr(9))}\n" for line in lines)
            write_whole(form.asked, text.encode("utf-8", "backslashreplace"))
    if not printed:
        echo_highlighted(whole())


def terminal_width() -> int:
    """The number of columns that may be used: those of the terminal, and 80 without one."""
    if not sys.stdout.isatty():
        return _LEAST_WIDTH
    # Not `shutil.get_terminal_size`: it asks the stream that ours has taken the place of.
    return max(_LEAST_WIDTH, os.get_terminal_size(sys.stdout.fileno()).columns)
