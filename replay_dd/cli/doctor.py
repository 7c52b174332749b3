"""``replay-dd doctor``."""

from __future__ import annotations

import sys

from replay_dd.cli.command import command
from replay_dd.cli.options import json_option
from replay_dd.cli.output import echo, echo_json
from replay_dd.events.doctor import examine
from replay_dd.report.runs import doctor_as_json


@command("doctor", json_option())
def doctor_command(as_json: bool) -> int:
    """Check whether GUI sessions can be recorded and replayed here, and say what is missing.

    Exit status:
      0  nothing that is needed is missing
      1  something is missing
    """
    findings = examine()
    works = all(finding.works for finding in findings if finding.needed)
    if as_json:
        echo_json(doctor_as_json(findings))
        return 0 if works else 1
    width = max(len(finding.what) for finding in findings)
    for finding in findings:
        mark = "ok" if finding.works else "MISSING" if finding.needed else "absent"
        echo(f"{mark:<8} {finding.what:<{width}}  {finding.told}")
        if not finding.works and finding.remedy:
            echo(f"{'':<8} {'':<{width}}  {finding.remedy}")
    sys.stdout.flush()
    return 0 if works else 1
