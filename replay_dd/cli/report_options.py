"""The options that choose the form of an answer.

Rules of this module:

* A form that is only printed is a flag: ``--short``, ``--lanes``, ``--json``. A form for somewhere else takes a FILE,
  and is printed if that is ``-``: ``--markdown``, ``--mermaid``.
"""

from __future__ import annotations

from replay_dd.cli.command import Option
from replay_dd.cli.options import OUTPUT_FILE, OUTPUT_FILE_OR_PRINTED

REPORT = "Report"


def short_option() -> Option:
    """``--short``."""
    return Option("--short", section=REPORT, is_flag=True, help="Print the answer in five lines.")


def lanes_option() -> Option:
    """``--lanes``."""
    return Option(
        "--lanes", section=REPORT, is_flag=True, help="Print what the threads do side by side, a column for each."
    )


def markdown_option() -> Option:
    """``--markdown``."""
    return _written("--markdown", "Write a report in Markdown, for a pull request; - prints it.")


def mermaid_option() -> Option:
    """``--mermaid``."""
    return _written("--mermaid", "Write a sequence diagram in Mermaid's language, for an issue; - prints it.")


def write_test_option() -> Option:
    """``--write-test``."""
    return Option(
        "--write-test",
        section=REPORT,
        metavar="FILE",
        type=OUTPUT_FILE,
        help="Write a pytest test that fails as long as the failure is possible in this order of threads.",
    )


def _written(name: str, help_text: str) -> Option:
    return Option(name, section=REPORT, metavar="FILE", type=OUTPUT_FILE_OR_PRINTED, help=help_text)
