"""``replay-dd show`` of a schedule log."""

from __future__ import annotations

from pathlib import Path

from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import can_draw, say
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.schedules.model import Log
from replay_dd.schedules.program_files import changed_files

_SHOWN = 3


def show_schedule(
    log: Log, path: Path, *, html: Path | None, trace: Path | None, stacks: bool, as_json: bool, ascii_only: bool
) -> None:
    """Print what a log holds: its facts, and its switches as lanes; or one JSON object.

    Raises:
        ReplayDDError: the run is to be repeated, and cannot be.
    """
    from replay_dd.schedules.observation import NOTHING_OBSERVED

    observation = NOTHING_OBSERVED
    if stacks:
        from replay_dd.report.stacks import stacks_as_json, stacks_as_text
        from replay_dd.schedules.observed_run import observe_run

        observation = observe_run(log)
    if html is not None:
        from replay_dd.report.page.frame import write_page
        from replay_dd.report.page.runs import log_page

        write_page(log_page(log, path, [*describe_log(log), "", *lanes(log)], observation), html)
    if trace is not None:
        from replay_dd.report.trace import TracedRun, write_trace

        write_trace([TracedRun("run", log, observation)], trace)
    if as_json:
        echo_json(schedule_as_json(log) | ({"stacks": stacks_as_json(log, observation)} if stacks else {}))
        return
    echo_lines(describe_log(log))
    echo()
    changed = changed_files(log.program)
    if changed:
        say(f"source lines are left out, as the program has changed since: {', '.join(changed[:_SHOWN])}")
    echo_lines(lanes(log, unicode=can_draw() and not ascii_only, source=not changed))
    if stacks:
        echo()
        echo_lines(stacks_as_text(log, observation))
