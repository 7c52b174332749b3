"""``replay-dd show`` of a schedule log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from replay_dd.cli.progress import can_draw, say
from replay_dd.cli.report_forms import Form, check_forms, tell
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.schedules.model import Log
from replay_dd.schedules.running.program_files import changed_files

_SHOWN = 3


def show_schedule(
    log: Log,
    path: Path,
    *,
    html: Path | None,
    trace: Path | None,
    stacks: bool,
    as_json: bool,
    markdown: Path | None,
    mermaid: Path | None,
    ascii_only: bool,
) -> None:
    """Print what a log holds: its facts, and its switches as lanes; or another form of it.

    Raises:
        ReplayDDError: the run is to be repeated, and cannot be; or a file cannot be written.
    """
    from replay_dd.schedules.observed.observation import NOTHING_OBSERVED

    check_forms(json=as_json, markdown=markdown, mermaid=mermaid)
    observation = NOTHING_OBSERVED
    if stacks:
        from replay_dd.report.stacks import stacks_as_json, stacks_as_text
        from replay_dd.schedules.replaying.observed_run import observe_run

        observation = observe_run(log)
    if html is not None:
        from replay_dd.report.page.frame import write_page
        from replay_dd.report.page.runs import log_page

        write_page(log_page(log, path, [*describe_log(log), "", *lanes(log)], observation), html)
    if trace is not None:
        from replay_dd.report.trace import TracedRun, write_trace

        write_trace([TracedRun("run", log, observation)], trace)
    changed = changed_files(log.program)
    if changed and not as_json:
        say(f"source lines are left out, as the program has changed since: {', '.join(changed[:_SHOWN])}")

    def whole() -> Iterator[str]:
        yield from describe_log(log)
        yield ""
        yield from lanes(log, unicode=can_draw() and not ascii_only, source=not changed)
        if stacks:
            yield ""
            yield from stacks_as_text(log, observation)

    def plain() -> dict[str, Any]:
        return schedule_as_json(log) | ({"stacks": stacks_as_json(log, observation)} if stacks else {})

    def as_markdown() -> Iterator[str]:
        from replay_dd.report.markdown import log_as_markdown  # only now: it loads all that a story may tell

        return log_as_markdown(log, source=not changed)

    def as_mermaid() -> Iterator[str]:
        from replay_dd.report.mermaid import log_as_mermaid  # the same

        return log_as_mermaid(log, source=not changed)

    forms = (
        Form("--json", as_json, plain),
        Form("--markdown", markdown, as_markdown),
        Form("--mermaid", mermaid, as_mermaid),
    )
    tell(forms, whole)
