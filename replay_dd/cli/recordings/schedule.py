"""Schedule logs: the thread schedule of a run, recorded under the deterministic scheduler."""

from __future__ import annotations

import click

from replay_dd.cli.command import OnDemand, OneOf, Option
from replay_dd.cli.options import (
    OUTPUT,
    OUTPUT_FILE,
    OUTPUT_FOLDER,
    PROGRAM,
    SCHEDULING,
    SEARCH,
    accept_changes_option,
    budget_options,
    count_option,
    environment_option,
    fork_option,
    jobs_option,
    json_option,
    max_delay_option,
    output_option,
    page_option,
    replay_time_limit_option,
    run_options,
    seed_option,
    strategies,
    trace_option,
)
from replay_dd.cli.recordings import RecordingKind, Use
from replay_dd.cli.report_options import lanes_option, markdown_option, mermaid_option, short_option, write_test_option

RECORD_OPTIONS = (
    Option(
        "--strategy", section=SCHEDULING, type=OneOf(strategies), help="Scheduling strategy.", shown_default="default"
    ),
    Option(
        "--natural",
        section=SCHEDULING,
        is_flag=True,
        help="Let real time decide, as without replay-dd: short for --strategy natural.",
    ),
    seed_option("Random seed, for the strategies random, pct and bounded.", SCHEDULING),
    *run_options(),
    json_option(),
)
REPLAY_OPTIONS = (
    json_option(),
    replay_time_limit_option(""),
    Option(
        "--exact",
        section="",
        is_flag=True,
        help="Refuse a program or a Python version that has changed, instead of relocating the switches.",
    ),
    accept_changes_option(""),
    environment_option(""),
)
FAILURE = Option(
    "--failure",
    section=SEARCH,
    metavar="TEXT",
    shown_default=lambda: "that of `hunt --failure`, if any",
    help="Count only failures whose description contains TEXT.",
)
ISOLATE_OPTIONS = (
    FAILURE,
    Option(
        "--range",
        "range_number",
        section=SEARCH,
        metavar="N",
        type=click.IntRange(min=1),
        help="Isolate in the failing range with this number, as a search without this option lists them.",
    ),
    jobs_option(),
    fork_option(),
    *budget_options(),
    Option(
        "--experiments",
        section=SEARCH,
        metavar="N",
        type=click.IntRange(min=0, max=100_000),
        help="Try what could prevent the failure on N hunted schedules; 0 leaves that out.",
        shown_default="100, for up to 10 s",
    ),
    count_option("--repeats", "Run each schedule up to N times, for a program that is not deterministic.", default=1),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="DIR",
        type=OUTPUT_FOLDER,
        help="Where to write the minimal logs.",
        shown_default="next to FAIL",
    ),
    short_option(),
    lanes_option(),
    page_option(),
    trace_option(),
    json_option(),
    markdown_option(),
    mermaid_option(),
    write_test_option(),
    Option(
        "--slice",
        "slice_wanted",
        section=PROGRAM,
        is_flag=True,
        help="Also find the statements of the program that the failure needs.",
    ),
    replay_time_limit_option(PROGRAM),
    accept_changes_option(PROGRAM),
    environment_option(PROGRAM),
)
MINIMIZE_OPTIONS = (
    FAILURE,
    jobs_option(),
    *budget_options(),
    output_option(),
    page_option(),
    json_option(),
    write_test_option(),
    replay_time_limit_option(PROGRAM),
    accept_changes_option(PROGRAM),
    environment_option(PROGRAM),
)
VERIFY_OPTIONS = (
    count_option("--runs", "How many schedules to hunt.", default=200, least=0),
    seed_option("Random seed of the first of them; the others count up from it.", SEARCH),
    max_delay_option(of_log=True),
    jobs_option(),
    fork_option(),
    Option(
        "-o",
        "--output",
        section=OUTPUT,
        metavar="FILE",
        type=OUTPUT_FILE,
        help="Where to write the log of a run that fails.",
        shown_default="still-fails.log next to LOG",
    ),
    json_option(),
    replay_time_limit_option(PROGRAM),
    environment_option(PROGRAM),
)
SHOW_OPTIONS = (
    page_option("Write the run as an HTML page, which needs no network; with --stacks, values and locks, too."),
    trace_option(),
    json_option(),
    markdown_option(),
    mermaid_option(),
    Option(
        "--stacks",
        section=OUTPUT,
        is_flag=True,
        help="Replay the run once, and show where the threads stood at each switch.",
    ),
    Option("--ascii", "ascii_only", section=OUTPUT, is_flag=True, help="Draw with ASCII characters only."),
)

KIND = RecordingKind(
    name="schedule log",
    plural="schedule logs",
    origin="written by `record` and `hunt`",
    format="replay-dd schedule log",
    parse=OnDemand("replay_dd.schedules.log", "parse_log"),
    stranger=OnDemand("replay_dd.cli.strangers", "strange_log"),
    write=OnDemand("replay_dd.schedules.log", "write_log"),
    uses={
        "record": Use(OnDemand("replay_dd.cli.record_schedule", "record_schedule"), RECORD_OPTIONS),
        "replay": Use(OnDemand("replay_dd.cli.replay_schedule", "replay_schedule"), REPLAY_OPTIONS),
        "schedules": Use(OnDemand("replay_dd.cli.schedules", "isolate_schedule"), ISOLATE_OPTIONS),
        "verify-fix": Use(OnDemand("replay_dd.cli.verify_fix", "verify_fix_of"), VERIFY_OPTIONS),
        "minimize": Use(OnDemand("replay_dd.cli.schedules", "minimize_schedule"), MINIMIZE_OPTIONS),
        "show": Use(OnDemand("replay_dd.cli.show_schedule", "show_schedule"), SHOW_OPTIONS, runs="stacks"),
    },
    order=1,
)
