"""``replay-dd changes``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from replay_dd.changes.difference import Difference
from replay_dd.changes.history import origins, origins_of_needed
from replay_dd.changes.isolate import ChangesIsolation, Narrowed, isolate_changes, narrow_history
from replay_dd.changes.levels import DEFAULT_LEVELS, LEVELS
from replay_dd.changes.patch import patch_between
from replay_dd.changes.sources import Version, is_range, open_version
from replay_dd.changes.workshop import Target, Workshop
from replay_dd.cli.command import Command, Option, command
from replay_dd.cli.input_options import failure_options, oracle_of
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FILE,
    PROGRAM,
    SEARCH,
    budget_options,
    jobs_option,
    journal_option,
    json_option,
    page_option,
)
from replay_dd.cli.output import echo_json, echo_lines
from replay_dd.cli.progress import Progress
from replay_dd.dd import EMPTY
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.errors.user import UsageError
from replay_dd.experiment.ending import Oracle
from replay_dd.experiment.process import private_folder
from replay_dd.files import write_whole
from replay_dd.report.changes import changes_as_json, changes_as_text
from replay_dd.report.changes_files import log_of, regression_test

if TYPE_CHECKING:
    from replay_dd.schedules.model import Log

DEFAULT_PATCH = "failing.patch"
DEFAULT_TIME_LIMIT_S = 300.0
DEFAULT_SEEDS = 20


_BEFORE_DASHES = "replay_dd.changes.words_before_dashes"


class ChangesCommand(Command):
    """A command that knows which of its words come before ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note how many there are, or nothing where there is no ``--``."""
        after = len(args) - args.index("--") - 1 if "--" in args else None
        rest = super().parse_args(ctx, args)
        if after is not None:
            ctx.meta[_BEFORE_DASHES] = len(ctx.params["words"]) - after
        return rest


@command(
    "changes",
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="PATCH",
        type=OUTPUT_FILE,
        default=DEFAULT_PATCH,
        show_default=True,
        help="Where to write the failure-inducing change.",
    ),
    Option(
        "--passing-patch",
        section=OUTPUT,
        metavar="PATCH",
        type=OUTPUT_FILE,
        help="Also write what leads to the closest version that passes.",
    ),
    Option(
        "--log", section=OUTPUT, metavar="FILE", type=OUTPUT_FILE, help="Write all tests, as `git bisect log` does."
    ),
    Option(
        "--write-test", section=OUTPUT, metavar="FILE", type=OUTPUT_FILE, help="Write a regression test for pytest."
    ),
    page_option(),
    json_option(),
    *failure_options(f"{DEFAULT_TIME_LIMIT_S:g}"),
    Option(
        "--schedule",
        section=PROGRAM,
        metavar="LOG",
        type=LOG,
        multiple=True,
        help="A version fails if it fails under the schedule of this failing run, or a hunted one. Repeatable.",
    ),
    Option(
        "--runs",
        "seeds",  # a journal goes on with other `runs`, but not with other seeds
        section=PROGRAM,
        metavar="N",
        type=click.IntRange(min=1),
        old_name="--seeds",
        help=f"How many schedules to hunt in each version [default with --schedule: {DEFAULT_SEEDS}]. Without "
        "--schedule, a failing one is hunted in NEW first.",
    ),
    Option("--build", section=PROGRAM, metavar="CMD", help="Run this shell command in each version before CMD."),
    Option(
        "--levels",
        section=SEARCH,
        metavar="LEVELS",
        default=",".join(DEFAULT_LEVELS),
        show_default=True,
        help="What is applied as a whole, coarse groups of changes first.",
    ),
    Option(
        "--algorithm",
        section=SEARCH,
        type=click.Choice(["dd", "dd+"]),
        default="dd",
        show_default=True,
        help="dd isolates a difference between two mixtures; dd+ looks for the changes to the old version that fail.",
    ),
    Option(
        "--no-coverage",
        section=SEARCH,
        is_flag=True,
        help="Search the changes that neither version executes, too.",
    ),
    Option(
        "--no-resolve",
        section=SEARCH,
        is_flag=True,
        help="Do not retry a mixture that lacks names with the changes that define them.",
    ),
    Option(
        "--no-history",
        section=SEARCH,
        is_flag=True,
        help="Do not search the commits between two revisions first.",
    ),
    jobs_option(),
    *budget_options(),
    journal_option(),
    click.Argument(["words"], nargs=-1, required=True, type=click.UNPROCESSED, metavar="OLD NEW -- CMD..."),
    kind=ChangesCommand,
)
def changes_command(
    output: Path,
    passing_patch: Path | None,
    log: Path | None,
    write_test: Path | None,
    html: Path | None,
    as_json: bool,
    grep: str | None,
    script: bool,
    time_limit: float | None,
    schedule: tuple[Path, ...],
    seeds: int | None,
    build: str | None,
    levels: str,
    algorithm: str,
    no_coverage: bool,
    no_resolve: bool,
    no_history: bool,
    jobs: int,
    max_tests: int | None,
    time_budget: float | None,
    words: tuple[str, ...],
) -> int:
    """Isolate the change between two versions that makes a program fail.

    CMD is run in a copy of the version, which comes first on PYTHONPATH. OLD, where it passes, and NEW, where it fails,
    are folders, archives, revisions of the git repository here (OLD..NEW, too), or releases such as pip:NAME==1.2.

    Exit status:
      0  isolated
      3  CMD does not pass in OLD, or does not fail in NEW
      4  the failure or the answer is not reproducible
    """
    old_name, new_name, program = _split(words)
    oracle = oracle_of(grep, script)
    if (schedule or seeds is not None) and (grep is not None or script):
        raise UsageError(
            "`--grep` and `--script` do not go with `--schedule` and `--runs`.",
            "The failure is that of the log, or the one that is hunted in the new version.",
        )
    limit_s = DEFAULT_TIME_LIMIT_S if time_limit is None else time_limit
    progress = Progress()
    with private_folder() as folder:
        places = [folder.path / name for name in ("old", "new", "between")]
        for place in places:
            place.mkdir()
        progress.show(f"reading {old_name} and {new_name}")
        try:
            old, new = open_version(old_name, places[0]), open_version(new_name, places[1])
            target = Target(
                *(_reachable(program, old, new, folder.path), build, _environment()),
                time_limit_s=limit_s,
                limit_follows_ends=time_limit is None,
                build_limit_s=limit_s,
            )
            if schedule or seeds is not None:
                names = {
                    os.path.normpath(name): path
                    for name, path in zip(program, target.command, strict=True)
                    if name != path
                }
                target = _under_schedules(target, old, new, schedule, seeds, time_limit, progress, names)
            observer = progress.observer("change")
            narrow = partial(narrow_history, old, new, target, places[2], oracle=oracle, observer=observer)
            isolate = partial(
                isolate_changes,
                target=target,
                oracle=oracle,
                levels=_levels(levels),
                algorithm=algorithm,
                coverage=not no_coverage,
                resolve=not no_resolve,
                jobs=jobs,
                max_tests=max_tests,
                time_budget_s=time_budget,
                observer=observer,
            )
            narrowed = None if no_history else narrow()
            if narrowed is not None:
                old, new = narrowed.old, narrowed.new
            try:
                found = isolate(old.tree, new.tree)
            except (DoesNotPassError, DoesNotFailError):
                if narrowed is None or narrowed.times > 1:
                    raise
                # The commit that passed did so by luck.
                narrowed = narrow(varies=True)
                assert narrowed is not None
                old, new = narrowed.old, narrowed.new
                found = isolate(old.tree, new.tree)
        finally:
            progress.clear()
        files = {"patch": output}
        if passing_patch is not None:
            write_whole(passing_patch, patch_between(found.difference, EMPTY, found.passing))
            files["passing"] = passing_patch
        if log is not None:
            write_whole(log, _as_bytes(log_of(found, narrowed)))
            files["log"] = log
        if write_test is not None:
            write_whole(write_test, _as_bytes(regression_test(found, program, grep=grep, time_limit_s=limit_s)))
            files["test"] = write_test
        _tell(found, old, new, narrowed, files, html, as_json=as_json)
        return found.isolation.exit_code


def _failing(path: Path, log: Log) -> Log:
    from replay_dd.schedules.failures.signature import PASSED, signature_of

    if signature_of(log.ending).kind == PASSED:
        raise UsageError(
            f"The run of `--schedule {path}` has passed.", "Give the log of a run that failed, such as one of `hunt`."
        )
    return log


def _under_schedules(
    target: Target,
    old: Version,
    new: Version,
    paths: tuple[Path, ...],
    seeds: int | None,
    time_limit_s: float | None,
    progress: Progress,
    names: dict[str, str],
) -> Target:
    """The target, each version tried with the same schedules."""
    # Imported late: only programs with threads need them.
    from replay_dd.bisect.mixtures import SchedulesOnMixtures
    from replay_dd.schedules.log import read_log
    from replay_dd.schedules.replaying.record import settings_for_now
    from replay_dd.schedules.running.target import describe_program

    schedules = SchedulesOnMixtures(
        *(describe_program(target.command), settings_for_now(), seeds or DEFAULT_SEEDS, time_limit_s),
        on_run=lambda text: progress.show(f"hunting in {new.name}: {text}"),
        logs=[_failing(path, read_log(path)) for path in paths],
        names=names,
    )
    if not paths:
        difference = Difference(old.tree, new.tree)
        with Workshop(difference, replace(target, runner=None), Oracle()) as workshop:
            workshop.in_copy(difference.all, schedules.hunt)
    return replace(target, runner=schedules.ending)


def _tell(
    found: ChangesIsolation,
    old: Version,
    new: Version,
    narrowed: Narrowed | None,
    files: dict[str, Path],
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    patch = patch_between(found.difference, EMPTY, found.needed if found.needed is not None else found.failing)
    write_whole(files["patch"], patch)
    commits = origins(found.difference, found.guilty, old, new)
    needed = () if narrowed is not None else origins_of_needed(found, commits, old, new)
    if html is not None:
        from replay_dd.report.page.answer import answer_page
        from replay_dd.report.page.frame import write_page

        report = changes_as_text(found, commits, narrowed, files, needed_origins=needed)
        shown = ("The change", patch.decode(errors="replace"))
        subject = "The change that makes it fail"
        write_page(answer_page(found.isolation, subject, report, content=shown, files=files), html)
    if as_json:
        echo_json(changes_as_json(found, commits, narrowed, files, needed_origins=needed))
    else:
        echo_lines(changes_as_text(found, commits, narrowed, files, needed_origins=needed))


def _as_bytes(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _split(words: tuple[str, ...]) -> tuple[str, str, tuple[str, ...]]:
    """The two versions, and the command."""
    before = click.get_current_context().meta.get(_BEFORE_DASHES)
    if before is not None and before != (1 if is_range(words[0]) else 2):
        belong = "A range of versions belongs alone" if is_range(words[0]) else "Two versions belong"
        raise UsageError(
            f"{belong} before the `--`; there {'is' if before == 1 else 'are'} {before or 'none'}.",
            "For instance: `replay-dd changes v1.2 v1.3 -- python test.py`.",
        )
    if is_range(words[0]):
        old, _, new = words[0].partition("..")
        names, program = (old or "HEAD", new.lstrip(".") or "HEAD"), words[1:]
    else:
        names, program = (words[0], words[1] if len(words) > 1 else ""), words[2:]
    if not program or not names[1]:
        raise UsageError(
            "Two versions and a command are needed.",
            "For instance: `replay-dd changes v1.2 v1.3 -- python test.py`.",
        )
    return *names, program


def _reachable(program: tuple[str, ...], old: Version, new: Version, folder: Path) -> tuple[str, ...]:
    """The command, with files that lie here, and in none of the versions, by their full paths.

    In a work tree, such a file is copied, and what is beside it is linked as far as the versions do not have it: Python
    looks first in the folder of a script, and must not find the modules of the work tree there.
    """
    found = []
    for number, argument in enumerate(program):
        inside = os.path.normpath(argument)
        if os.path.isabs(argument) or not os.path.isfile(argument) or inside in old.tree or inside in new.tree:
            found.append(argument)
        elif old.repository is None and new.repository is None:
            found.append(os.path.abspath(argument))
        else:
            found.append(_apart(Path(inside), {*old.tree, *new.tree}, folder / f"own-{number}"))
    return tuple(found)


def _apart(file: Path, tracked: set[str], folder: Path) -> str:
    folder.mkdir()
    shutil.copy2(file, folder)
    for other in file.parent.iterdir():
        if other != file and not any(Path(name).is_relative_to(other) for name in tracked):
            (folder / other.name).symlink_to(other.absolute())
    return str(folder / file.name)


def _environment() -> dict[str, str]:
    """The variables, with a search path of Python that does not depend on the folder that we are in."""
    path = os.environ.get("PYTHONPATH", "")
    whole = os.pathsep.join(os.path.abspath(part) for part in path.split(os.pathsep) if part)
    return {**os.environ, **({"PYTHONPATH": whole} if whole else {})}


def _levels(text: str) -> tuple[str, ...]:
    chosen = {name.strip() for name in text.split(",") if name.strip()}
    unknown = sorted(chosen - set(LEVELS))
    if unknown or not chosen:
        raise UsageError(f"`--levels {text}` names no known level.", f"Known ones: {', '.join(LEVELS)}.")
    return tuple(name for name in LEVELS if name in chosen)
