"""The environment of a program: what a log keeps of it, and what a run gets.

Rules of this module:

* A run gets the variables that the program had when it was recorded. What the shell has besides, it does not see.
* Values that look like secrets are not kept: logs go into bug reports. Nor are variables of a login session, such as
  the display, nor those that make any program load other code. A run takes these from the shell that starts it.
* The user may name variables that shall differ, and is told about every difference.
* These variables must not move the objects of the program. So they are passed on *late*: the interpreter starts without
  them; see ``runtime/site/sitecustomize.py``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import replay_dd.schedules.runtime as runtime
from replay_dd.errors.user import UsageError
from replay_dd.experiment.resource_limits import UNLIMITED, out_of_reach
from replay_dd.schedules.model import Program

# Until logs kept the whole environment, they kept these.
_KEPT_BY_OLD_LOGS = re.compile(r"PATH|LANG|LANGUAGE|TZ|VIRTUAL_ENV|LC_.*|PYTHON.*|PYTEST_.*", re.DOTALL)
_OF_THE_SESSION = re.compile(
    r"(WAYLAND_)?DISPLAY|PYTEST_(XDIST|CURRENT)_.*|XAUTHORITY|WINDOWID|SESSION_MANAGER|GPG_AGENT_INFO|DBUS_.*|SSH_.*|XDG_(RUNTIME|SESSION|SEAT|VTNR).*",
    re.DOTALL,
)
_LOADS_CODE = re.compile(
    r"(LD|DYLD)_.*|BASH_(ENV|FUNC).*|ENV|PROMPT_COMMAND|GCONV_PATH|(PERL5|RUBY|NODE_|JAVA_TOOL_)(OPT|LIB|OPTIONS)",
    re.DOTALL,
)
_SECRET_NAME = re.compile(
    r"(?i:SECRET|PASSWORD|PASSWD|PASSPHRASE|TOKEN|CREDENTIAL|APIKEY"
    r"|(^|_)(PASS|PW|PAT|KEYS?|AUTH|COOKIES?|DSN|JWT|SIGNATURE|PRIVATE|SALT|[A-Z0-9]+_PWD)(_|$))"
)
_NAMES_A_FILE = re.compile(r".*_(FILE|DIR|PATH)S?", re.DOTALL)
_SECRET_VALUE = re.compile(
    r"://[^/\s@]*:[^/\s@]+@"  # an address with a password
    r"|-----BEGIN |\beyJ[\w-]{10,}\."  # a key, a JSON Web Token
    r"|\b(gh[a-z]_|github_pat_|glpat-|xox[a-z]-|sk-|AKIA|ASIA)[\w-]{8,}"  # tokens of well-known services
    r"|^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+=_-]{32,}$"  # looks random
)
_OURS = "REPLAY_DD_"
LATE = _OURS + "LATE"  # the names of the variables that are passed on late
_PADDING = _OURS + "PADDING"  # passed on to nobody
_PADDING_BYTES = 1777


def kept(environment: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What a log keeps of an environment: variables, and the names of those whose values look like secrets."""
    variables, withheld = {}, []
    for name, value in sorted(environment.items()):
        if name.startswith(_OURS) or name == "TMPDIR" or _is_of_the_shell(name):
            continue
        named = _SECRET_NAME.search(name) is not None and not _NAMES_A_FILE.fullmatch(name)
        if named or _SECRET_VALUE.search(value):
            withheld.append(name)
        else:
            variables[name] = value
    return variables, tuple(withheld)


def _is_of_the_shell(name: str) -> bool:
    return any(kind.fullmatch(name) for kind in (_OF_THE_SESSION, _LOADS_CODE))


def missing(program: Program) -> list[str]:
    """Names of variables whose values the log does not keep, and that are not set here."""
    return [name for name in program.withheld or () if name not in os.environ and name not in program.environment]


class Changed(NamedTuple):
    """A variable that the user wants to differ; None where it is not set."""

    name: str
    recorded: str | None
    now: str | None


def changed(program: Program, wanted: tuple[str, ...]) -> tuple[Program, list[Changed]]:
    """The program with other variables, and what differs from the recording.

    Args:
        program: what was recorded.
        wanted: ``NAME=VALUE``, or ``NAME`` for the value that it has here.

    Raises:
        UsageError: one is neither.
    """
    variables, differences = dict(program.environment), []
    for text in wanted:
        name, given, value = text.partition("=")
        if not name or "\0" in text:
            raise UsageError(f"`--env {text}` names no variable.", "Write `--env NAME=VALUE`, or `--env NAME`.")
        now = value if given else os.environ.get(name)
        before = variables.pop(name, None)
        if now is not None:
            variables[name] = now
        if now != before:
            differences.append(Changed(name, before, now))
    return replace(program, environment=variables), differences


def of_run(program: Program, request: Path, *, elsewhere: bool = False) -> dict[str, str]:
    """The environment that a run gets, with what the runtime needs.

    Args:
        program: what to run.
        request: the file with the request of the run.
        elsewhere: start the interpreter as if it were in another shell; the program does not see the difference.
    """
    environment, late = _of_program(program)
    if elsewhere:
        environment[_PADDING] = "x" * _PADDING_BYTES
        late.append(_PADDING)
    if late:
        environment[LATE] = "=".join(late)
    site = str(Path(runtime.__file__).parent / "site")
    fixed = {"PYTHONPATH": site, "PYTHONHASHSEED": "0"}
    before = {name: environment[name] for name in fixed if name in environment}
    if "PYTHONPATH" in before:
        fixed["PYTHONPATH"] = site + os.pathsep + before["PYTHONPATH"]
    if before.get("PYTHONHASHSEED", "random") != "random":
        fixed["PYTHONHASHSEED"] = before["PYTHONHASHSEED"]
    environment.update(fixed)
    environment.update({f"{_OURS}BEFORE_{name}": value for name, value in before.items()})
    environment[f"{_OURS}REQUEST"] = str(request)
    if program.process:
        environment[f"{_OURS}PROCESS"] = program.process
    return environment


def plain(program: Program) -> dict[str, str]:
    """The environment of the program when it is run without us."""
    return _of_program(program)[0]


def _of_program(program: Program) -> tuple[dict[str, str], list[str]]:
    """Its variables, and the names of those that are passed on late."""
    environment = dict(program.environment)
    late = []
    for name, value in os.environ.items():
        if name in environment or name == "TMPDIR":
            continue
        if program.withheld is None:  # an old log
            if not _KEPT_BY_OLD_LOGS.fullmatch(name):
                environment[name] = value
        elif name in program.withheld or _OF_THE_SESSION.fullmatch(name):
            environment[name] = value
            late.append(name)
        elif _LOADS_CODE.fullmatch(name) or name == _OURS + "ACCELERATOR":
            environment[name] = value
    return environment, late


def differences(differing: list[Changed], program: Program) -> Iterator[str]:
    """What differs from the recorded environment, one line each."""
    for variable in differing:
        recorded = "not set" if variable.recorded is None else repr(variable.recorded)
        now = "not set" if variable.now is None else repr(variable.now)
        yield f"{variable.name} is {now}; it was {recorded if variable.name not in (program.withheld or ()) else 'set'}"
    for name in missing(program):
        yield f"{name} is not set; it was, and its value is not kept, as it looks like a secret"


def lower_limits(program: Program) -> Iterator[str]:
    """Which resource limits are lower than the recorded ones, and cannot be raised; one line each."""
    for name, limit in out_of_reach(program.limits).items():
        recorded = "unlimited" if program.limits[name] == UNLIMITED else f"{program.limits[name]:,}"
        yield f"{name.replace('_', ' ')} is limited to {limit:,} here; when recorded, it was {recorded}"
