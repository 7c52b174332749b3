"""``replay-dd show`` of a schedule log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from replay_dd.cli.progress import can_draw, say
from replay_dd.cli.report_forms import Form, check_forms, tell
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.report.markdown import log_as_markdown
from replay_dd.report.mermaid import log_as_mermaid
from replay_dd.schedules.model import Log
from replay_dd.schedules.program_files import changed_files

_SHOWN = 3


def show_schedule(
    log: Log, path: Path, *, as_json: bool, markdown: Path | None, mermaid: Path | None, ascii_only: bool
) -> None:
    """Print what a log holds: its facts, and its switches as lanes; or another form of it."""
    check_forms(json=as_json, markdown=markdown, mermaid=mermaid)
    changed = changed_files(log.program)
    if changed and not as_json:
        say(f"source lines are left out, as the program has changed since: {', '.join(changed[:_SHOWN])}")

    def whole() -> Iterator[str]:
        yield from describe_log(log)
        yield ""
        yield from lanes(log, unicode=can_draw() and not ascii_only, source=not changed)

    forms = (
        Form("--json", as_json, lambda: schedule_as_json(log)),
        Form("--markdown", markdown, lambda: log_as_markdown(log, source=not changed)),
        Form("--mermaid", mermaid, lambda: log_as_mermaid(log, source=not changed)),
    )
    tell(forms, whole)
