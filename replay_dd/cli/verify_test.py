"""``replay-dd verify-test``: does a test of an order tell broken code from repaired code?"""

from __future__ import annotations

import click

from replay_dd.changes.tested_version import Place, has_uncommitted_changes, project_of
from replay_dd.cli.command import Option, Seconds, command
from replay_dd.cli.options import (
    PROGRAM,
    count_option,
    json_option,
)
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.errors import EXIT_BASELINE, EXIT_DONE, EXIT_FLAKY
from replay_dd.errors.user import UsageError
from replay_dd.experiment.process import private_folder
from replay_dd.report.tested_versions import Arm, tested_as_json, tested_as_text

DEFAULT_RUNS = 3
DEFAULT_TIME_LIMIT_S = 300.0
VERSIONS = "Versions"


@command(
    "verify-test",
    Option(
        "--old",
        section=VERSIONS,
        metavar="VERSION",
        help="The version without the repair, where the test must fail: a folder, an archive, a revision of the git "
        "repository here, or a release such as pip:NAME==1.2.",
        shown_default="HEAD, if there are uncommitted changes",
    ),
    Option(
        "--revert",
        section=VERSIONS,
        metavar="COMMIT",
        help="In place of --old: the version with the repair, with this commit reverted.",
    ),
    Option(
        "--new",
        section=VERSIONS,
        metavar="VERSION",
        help="The version with the repair, where the test must pass.",
        shown_default="the files here",
    ),
    count_option("--repeats", "How often to run the test in each version.", default=DEFAULT_RUNS, section=PROGRAM),
    Option(
        "--time-limit",
        section=PROGRAM,
        metavar="SECONDS",
        type=Seconds(min=0, min_open=True),
        default=DEFAULT_TIME_LIMIT_S,
        shown_default=f"{DEFAULT_TIME_LIMIT_S:g}",
        help="Kill a run of the test after this time.",
    ),
    json_option(),
    click.Argument(["test"], metavar="TEST"),
)
def verify_test_command(
    old: str | None,
    revert: str | None,
    new: str | None,
    repeats: int,
    time_limit: float,
    as_json: bool,
    test: str,
) -> int:
    """Check that a test written by `--write-test` fails without the repair, and passes with it.

    TEST is the file, as pytest takes it. Versions are tested in copies; your files stay as they are.

    Exit status:
      0  it does; or, with only one version, it fails there as recorded
      3  it does not
      4  it varies from run to run
    """
    if old is not None and revert is not None:
        raise UsageError("`--old` and `--revert` both name the version without the repair.", "Give one of them.")
    if revert is not None and new is not None:
        raise UsageError("`--revert` takes a commit out of the files here, so `--new` does not go with it.")
    project = project_of(test)
    if old is None and revert is None and new is None and has_uncommitted_changes(project):
        old = "HEAD"
    progress = Progress()
    with private_folder() as folder:
        for name in ("unrepaired", "repaired"):
            (folder.path / name).mkdir()
        places: dict[str, Place] = {}
        try:
            if old is not None:
                places["unrepaired"] = project.version(old, folder.path / "unrepaired")
            elif revert is not None:
                places["unrepaired"] = project.without(revert, folder.path / "unrepaired")
            role = "repaired" if places or new is not None else "only"
            places[role] = project.here() if new is None else project.version(new, folder.path / "repaired")
            arms = []
            for role, place in places.items():
                runs = []
                for number in range(1, repeats + 1):
                    progress.show(f"{place.name}: run {number} of {repeats}")
                    runs.append(project.run(place, time_limit_s=time_limit))
                arms.append(Arm(role, place.name, tuple(runs)))
        finally:
            progress.clear()
    verified = len(arms) > 1 and all(arm.as_claimed for arm in arms)
    if as_json:
        echo_json(tested_as_json(arms, test, verified=verified))
    else:
        echo_lines(tested_as_text(arms, verified=verified))
    if any(arm.varies for arm in arms):
        return EXIT_FLAKY
    return EXIT_DONE if all(arm.as_claimed for arm in arms) else EXIT_BASELINE
