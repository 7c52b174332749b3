"""User flows of the Chrome DevTools Recorder at the command line: show, play and minimize them."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from replay_dd.cli.exit_status import EXIT_CANNOT_TELL
from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import Progress, say
from replay_dd.errors.user import UsageError
from replay_dd.files import check_writable
from replay_dd.outcome import Outcome
from replay_dd.report.flow import flow_as_json, flow_as_text, minimum_as_json, minimum_as_text, needed_steps
from replay_dd.report.runs import replay_as_json
from replay_dd.web.browser import WebBrowser, require_playwright
from replay_dd.web.browsers import Browsers
from replay_dd.web.flow import ALGORITHMS, Flow, write_flow
from replay_dd.web.server import Server

_SETTLE_S = 0.3
_EXITS = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}


def check_pattern(pattern: str | None) -> None:
    """Check a regular expression.

    Raises:
        UsageError: it is not valid.
    """
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"`{pattern}` is not a regular expression: {error}.") from error


def show_flow(flow: Flow, path: Path, *, as_json: bool) -> None:
    """Print the steps of a flow in words, or one JSON object."""
    if as_json:
        echo_json(flow_as_json(flow))
        return
    echo_lines(flow_as_text(flow))


def replay_flow(
    flow: Flow,
    path: Path,
    *,
    browser: Path | None,
    grep: str | None,
    settle: float | None,
    pause: float | None,
    server: str | None,
    here: bool,
    as_json: bool,
) -> int:
    """Play a flow once; returns the exit status: 0 it passed, 1 it failed, 125 a step could not be done.

    Raises:
        ReplayDDError: the options are wrong, or it cannot be played.
    """
    check_pattern(grep)
    require_playwright()
    from replay_dd.web.circumstance import failure_of
    from replay_dd.web.player import Limits, play

    with WebBrowser(browser, _server(server, here=here)) as running:
        _tell_sandbox(running)
        playback = play(flow, running, limits=Limits(pause_s=pause, settle_s=_settle_s(settle)), text=grep)
    failure = failure_of(playback, grep)
    if as_json:
        outcome = Outcome.FAIL if failure is not None else Outcome.UNRESOLVED if playback.left_out else Outcome.PASS
        left_out = [f"step {number + 1}: {why}" for number, why in playback.left_out]
        ending = "no failure" if failure is None else failure.summary
        echo_json(replay_as_json("user flow", outcome.value, ending, left_out=left_out))
        return _EXITS[outcome]
    for number, why in playback.left_out:
        echo(f"left out: step {number + 1}: {why}")
    if failure is None:
        echo("outcome: no failure")
        return EXIT_CANNOT_TELL if playback.left_out else 0
    echo(f"outcome: {failure.summary}")
    echo(f"seen after step {failure.step + 1}")
    return 1


def minimize_flow(
    flow: Flow,
    path: Path,
    *,
    output: Path | None,
    strip: Path | None,
    html: Path | None,
    browser: Path | None,
    grep: str | None,
    max_tests: int | None,
    as_json: bool,
    settle: float | None,
    pause: float | None,
    server: str | None,
    here: bool,
    algorithm: str | None,
    time_budget: float | None,
    repeats: int | None,
    jobs: int | None,
) -> int:
    """Minimize a flow and print the answer; returns the exit status.

    Raises:
        ReplayDDError: the options are wrong, or the flow cannot be played or does not fail.
    """
    check_pattern(grep)
    require_playwright()
    from replay_dd.report.flow_strip import write_flow_strip
    from replay_dd.web.minimize import default_output, minimize

    target = output or default_output(path)
    check_writable(target)
    progress = Progress()
    started = _server(server, here=here)
    if started is not None and jobs is not None and jobs > 1:
        raise UsageError(
            "`--server` starts one server, which browsers of `--jobs` would share. Give only one of the two."
        )
    with Browsers(jobs, browser) if jobs is not None and jobs > 1 else WebBrowser(browser, started) as running:
        _tell_sandbox(running)
        try:
            found = minimize(
                flow,
                running,
                text=grep,
                settle_s=_settle_s(settle),
                algorithm=algorithm or ALGORITHMS[0],
                pause_s=pause,
                max_tests=max_tests,
                time_budget_s=time_budget,
                repeat=repeats,
                observer=progress.observer("step"),
            )
        finally:
            progress.clear()
        write_flow(found.flow, target)
        filmed = None if found.isolation.interrupted else strip
        if filmed is not None:
            running.use(lambda browser: write_flow_strip(found, browser, filmed, text=grep))
    given = {"--browser": browser, "--grep": grep, "--settle": settle, "--pause": found.pause_s, "--server": server}
    replay = _replay_command(target, given, here=here)
    if html is not None:
        from replay_dd.report.page.answer import answer_page
        from replay_dd.report.page.frame import write_page

        report = minimum_as_text(found, replay, filmed)
        files, again = {"minimal flow": target}, [("plays it", replay)]
        told = [*needed_steps(found)]
        write_page(answer_page(found.isolation, found.whole.title, report, told=told, files=files, to_run=again), html)
    if as_json:
        echo_json(minimum_as_json(found, target, filmed))
    else:
        echo_lines(minimum_as_text(found, replay, filmed))
    sys.stdout.flush()
    return found.isolation.exit_code


def _replay_command(flow: Path, given: Mapping[str, object], *, here: bool) -> str:
    options = [f"{name} {shlex.quote(str(value))} " for name, value in given.items() if value is not None]
    return f"replay-dd replay {''.join(options)}{'--here ' if here else ''}{shlex.quote(str(flow))}"


def _server(command: str | None, *, here: bool) -> Server | None:
    """What starts the server, if it is to be started.

    Raises:
        UsageError: only its folder is given.
    """
    if command is None and here:
        raise UsageError("`--here` says where the server works that `--server` starts.")
    return None if command is None else Server(command, here=here)


def _tell_sandbox(running: WebBrowser | Browsers) -> None:
    if running.without_sandbox:
        say(f"the browser runs without its sandbox: {running.without_sandbox}; play only what you trust")


def _settle_s(given: float | None) -> float:
    return _SETTLE_S if given is None else given
