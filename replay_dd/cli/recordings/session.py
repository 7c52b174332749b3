"""GUI sessions: what a person, or `monkey`, does to a program on an X11 display."""

from __future__ import annotations

from replay_dd.cli.command import OnDemand, Option, Seconds
from replay_dd.cli.options import (
    LOG,
    OUTPUT,
    OUTPUT_FOLDER,
    SEARCH,
    accept_changes_option,
    algorithm_option,
    budget_options,
    displays_option,
    json_option,
    output_option,
    page_option,
    repeats_option,
    strip_option,
)
from replay_dd.cli.recordings import RecordingKind, Use
from replay_dd.cli.session_options import (
    DISPLAY,
    FAILURE,
    FOLDERS,
    PLAYBACK,
    exact_site_option,
    folder_options,
    oracle_option,
    play_options,
    replay_options,
    stage_options,
)

RECORD_OPTIONS = (
    Option(
        "--display",
        section=DISPLAY,
        metavar="NAME",
        help="X display, or `new` for a private one.",
        shown_default="$DISPLAY",
    ),
    *stage_options(DISPLAY),
    *folder_options(FOLDERS),
    Option(
        "--for",
        "for_s",
        section=DISPLAY,
        metavar="SECONDS",
        type=Seconds(min=0, min_open=True),
        help="End the recording after this time.",
        shown_default="with the program, or Ctrl-C",
    ),
    Option("--no-text", section=DISPLAY, is_flag=True, help="Write `x` for each character that is typed."),
    json_option(),
)
ISOLATE_OPTIONS = (
    Option(
        "--passing",
        section=SEARCH,
        metavar="LOG",
        type=LOG,
        help="A session that does not fail: isolate the difference to it (dd).",
    ),
    algorithm_option(),
    Option(
        "--finer",
        section=SEARCH,
        is_flag=True,
        help="Then also leave out single keys, clicks and moves within the actions that are left.",
    ),
    repeats_option(),
    exact_site_option(SEARCH),
    oracle_option(SEARCH),
    *budget_options(),
    displays_option(),
    output_option(),
    strip_option(),
    page_option(),
    Option(
        "--pictures",
        section=OUTPUT,
        metavar="DIR",
        type=OUTPUT_FOLDER,
        help="Write screenshots from before and after each action that is left.",
    ),
    json_option(),
    *play_options(PLAYBACK),
    *replay_options(PLAYBACK),
    *folder_options(FOLDERS),
    accept_changes_option(PLAYBACK),
)

KIND = RecordingKind(
    name="GUI session",
    plural="GUI sessions",
    origin="written by `record --gui` and `monkey`",
    format="replay-dd event log",
    parse=OnDemand("replay_dd.events.log", "parse_session"),
    stranger=OnDemand("replay_dd.cli.strangers", "strange_session"),
    write=OnDemand("replay_dd.events.log", "write_session"),
    uses={
        "record": Use(
            OnDemand("replay_dd.cli.record_session", "record_session"),
            RECORD_OPTIONS,
            switch=Option(
                "--gui", section="Recorder", is_flag=True, help="Record a GUI session (X11), not a thread schedule."
            ),
        ),
        "replay": Use(
            OnDemand("replay_dd.cli.replay_session", "replay_session"),
            (
                json_option(),
                accept_changes_option(""),
                *replay_options(""),
                *play_options(""),
                *folder_options(""),
                exact_site_option(FAILURE),
                oracle_option(FAILURE),
            ),
        ),
        "show": Use(
            OnDemand("replay_dd.cli.show_session", "show_session"),
            (
                json_option(),
                Option(
                    "--pictures",
                    section=OUTPUT,
                    metavar="DIR",
                    type=OUTPUT_FOLDER,
                    help="Play the session, and write a screenshot for each action.",
                    old_name="--thumbnails",
                ),
            ),
            runs="pictures",
        ),
        "events": Use(OnDemand("replay_dd.cli.events", "isolate_session"), ISOLATE_OPTIONS, recordings=("passing",)),
    },
    order=2,
)
