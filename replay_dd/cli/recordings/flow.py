"""User flows: steps in a browser, as the Recorder of Chrome DevTools exports them."""

from __future__ import annotations

from replay_dd.cli.command import OnDemand, Option, Seconds
from replay_dd.cli.options import (
    LOG,
    algorithm_option,
    browsers_option,
    budget_options,
    json_option,
    output_option,
    page_option,
    repeats_option,
    strip_option,
)
from replay_dd.cli.recordings import RecordingKind, Use
from replay_dd.cli.session_options import PLAYBACK, settle_option


def _play_options(section: str) -> tuple[Option, ...]:
    return (
        settle_option(section, "Watch the page this long after the last step.", "0.3"),
        Option(
            "--grep",
            section=section,
            metavar="REGEX",
            help="The failure is what REGEX matches on the page or in an error in its console, and nothing else.",
            old_name="--text",
        ),
        Option(
            "--pause",
            section=section,
            metavar="SECONDS",
            type=Seconds(min=0),
            help="Go on after this long, whatever the page is loading.",
            shown_default="wait for the page",
        ),
        Option(
            "--browser",
            section=section,
            metavar="FILE",
            type=LOG,
            help="The Chromium to use.",
            shown_default="the first one on the PATH",
        ),
        Option(
            "--server",
            section=section,
            metavar="COMMAND",
            help="Start the server of the pages for each run, in a fresh copy of the working folder.",
            shown_default="it is running",
        ),
        Option(
            "--here",
            section=section,
            is_flag=True,
            help="Let the server work in the working folder itself, and change it, instead of a fresh copy per run.",
        ),
    )


_MINIMIZE = Use(
    OnDemand("replay_dd.cli.web", "minimize_flow"),
    (
        algorithm_option(),
        repeats_option(),
        *budget_options(),
        browsers_option(),
        output_option(),
        strip_option(),
        page_option(),
        json_option(),
        *_play_options(PLAYBACK),
    ),
)

KIND = RecordingKind(
    name="user flow",
    plural="user flows",
    origin="exported as JSON by the Recorder of Chrome DevTools",
    parse=OnDemand("replay_dd.web.flow", "parse_flow"),
    stranger=OnDemand("replay_dd.cli.strangers", "strange_flow"),
    write=OnDemand("replay_dd.web.flow", "write_flow"),
    recognizes=OnDemand("replay_dd.web.flow", "looks_like_a_flow"),
    uses={
        "replay": Use(OnDemand("replay_dd.cli.web", "replay_flow"), (json_option(), *_play_options(""))),
        "show": Use(OnDemand("replay_dd.cli.web", "show_flow"), (json_option(),), runs=False),
        "events": _MINIMIZE,
        "web": _MINIMIZE,
    },
    order=3,
)
