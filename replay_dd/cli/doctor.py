"""``replay-dd doctor``."""

from __future__ import annotations

import sys

import click

from replay_dd.events.doctor import examine


@click.command("doctor")
def doctor_command() -> int:
    """Look whether sessions with windows can be recorded and played here, and say what is missing.

    Exit status: 0 all that is needed is there, 1 something is missing.
    """
    findings = examine()
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = "ok" if finding.works else "MISSING" if finding.needed else "absent"
        click.echo(f"{mark:<8} {finding.what:<{width}}  {finding.told}")
        if not finding.works and finding.remedy:
            click.echo(f"{'':<8} {'':<{width}}  {finding.remedy}")
    sys.stdout.flush()
    return 0 if all(finding.works for finding in findings if finding.needed) else 1
