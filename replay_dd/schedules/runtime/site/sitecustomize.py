"""Starts the runtime in a target process, just before its program.

The tool puts this folder in front of ``PYTHONPATH``; the interpreter then imports this module by itself at start-up.
It undoes its own traces (path entry, environment variables), so that the program and its child processes find what
they would have found without it, and gives way to the environment's own ``sitecustomize``.
"""

import os
import sys


def _start() -> None:
    late = os.environ.pop("REPLAY_DD_LATE", None)
    if late is not None and "REPLAY_DD_REQUEST" in os.environ:
        _start_again(os.environ["REPLAY_DD_REQUEST"], late.split("="))
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    wanted = os.environ.get("REPLAY_DD_PROCESS")
    number = _number(os.environ["REPLAY_DD_REQUEST"]) if "REPLAY_DD_REQUEST" in os.environ else 0
    if wanted is not None and number and not _is_wanted(wanted, number):
        _restore(os.environ["REPLAY_DD_REQUEST"], os.path.dirname(here))
        return  # a child may be; so the variables stay
    os.environ.pop("REPLAY_DD_PROCESS", None)
    request = os.environ.pop("REPLAY_DD_REQUEST", None)
    for name in ("PYTHONPATH", "PYTHONHASHSEED"):
        before = os.environ.pop("REPLAY_DD_BEFORE_" + name, None)
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
    if request is not None:
        _find_runtime(os.path.dirname(here))
        if not _refused(request):
            from _replay_dd_runtime import loading

            loading.begin(os.path.dirname(here))
            from _replay_dd_runtime.start import start

            start(request, number)
        else:
            _restore(request, os.path.dirname(here))


def _number(request: str) -> int:
    """The how-many-th Python process of the run this is; tells the tool its command line."""
    number = 1
    while True:
        try:
            with open(os.path.join(os.path.dirname(request), "process-" + str(number)), "xb") as file:
                file.write(os.fsencode("\0".join(_arguments())))
            return number
        except FileExistsError:
            number += 1
        except OSError:  # the folder is gone: the run is over
            return number


def _arguments() -> list[str]:
    return getattr(sys, "orig_argv", [sys.executable])  # older versions are refused later


def _is_wanted(wanted: str, number: int) -> bool:
    """Whether this process is the one that the program's log is about: by its number, or its script or module."""
    if wanted.isdigit():
        return int(wanted) == number
    previous = ""
    for argument in _arguments()[1:]:
        if argument == "-c" or previous == "-m":
            return argument == wanted
        if not argument.startswith("-") and previous not in ("-W", "-X"):
            return os.path.basename(argument) == wanted
        previous = argument
    return False


def _start_again(request: str, late: list[str]) -> None:
    """Start the interpreter without variables that may be others in a replay; the runtime sets them again.

    The interpreter's own objects are created before ours could keep them apart, and are at other addresses in an
    environment of another size.
    """
    import marshal

    try:
        with open("/proc/self/cmdline", "rb") as file:
            arguments = file.read().split(b"\0")[:-1]
        program = os.readlink("/proc/self/exe")
        with open(os.path.join(os.path.dirname(request), "late"), "xb") as file:
            marshal.dump({name: os.environ.pop(name) for name in late if name in os.environ}, file, 2)
        os.execv(program, arguments)
    except OSError:
        pass  # without /proc, addresses depend on the environment


def _refused(request: str) -> bool:
    """Whether the program runs without the runtime, as this interpreter does not suit it; the tool is told why."""
    from _replay_dd_runtime.compat import FULL_NAME, UNTESTED, why_not_controlled

    kind, reason = "unsupported", why_not_controlled()
    if not reason and not UNTESTED:
        return False
    import marshal

    with open(request, "rb") as file:
        told = marshal.load(file)
    if not reason:
        if told["untested"]:
            return False
        kind, reason = "untested", UNTESTED
    with open(told["channel"], "wb") as file:
        file.write(marshal.dumps(("hello", FULL_NAME, sys.executable, kind, reason), 2))
    return True


def _find_runtime(package: str) -> None:
    """Let the runtime be found by its place, under a name of its own: the target's environment has no replay-dd."""
    module = type(sys)("_replay_dd_runtime")
    module.__path__ = [package]
    sys.modules["_replay_dd_runtime"] = module


def _restore(request: str, package: str) -> None:
    """Set late variables in a process that runs without the runtime."""
    _find_runtime(package)
    from _replay_dd_runtime.process.late_variables import restore

    restore(request)
    for name in [name for name in sys.modules if name.startswith("_replay_dd_runtime")]:
        del sys.modules[name]


_start()
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401  the one of the target's environment, if it has one
except ImportError:
    pass
finally:
    sys.modules.setdefault("sitecustomize", type(sys)("sitecustomize"))
