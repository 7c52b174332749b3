"""``replay-dd doctor``."""

from __future__ import annotations

import sys

from replay_dd.cli.command import command
from replay_dd.cli.output import echo
from replay_dd.events.doctor import examine


@command("doctor")
def doctor_command() -> int:
    """Check whether GUI sessions can be recorded and replayed here, and say what is missing.

    Exit status:
      0  nothing that is needed is missing
      1  something is missing
    """
    findings = examine()
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = "ok" if finding.works else "MISSING" if finding.needed else "absent"
        echo(f"{mark:<8} {finding.what:<{width}}  {finding.told}")
        if not finding.works and finding.remedy:
            echo(f"{'':<8} {'':<{width}}  {finding.remedy}")
    sys.stdout.flush()
    return 0 if all(finding.works for finding in findings if finding.needed) else 1
