"""Starts the runtime in a target process, just before its program.

The tool puts this folder in front of ``PYTHONPATH``; the interpreter then imports this module by itself at start-up.
It undoes its own traces (path entry, environment variables), so that the program and its child processes find what
they would have found without it, and gives way to the environment's own ``sitecustomize``.
"""

import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    request = os.environ.pop("REPLAY_DD_REQUEST", None)
    for name in ("PYTHONPATH", "PYTHONHASHSEED"):
        before = os.environ.pop("REPLAY_DD_BEFORE_" + name, None)
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
    if request is not None and _unsupported():
        import marshal

        with open(request, "rb") as file:
            told = marshal.load(file)["channel"]
        with open(told, "wb") as file:
            file.write(marshal.dumps(("hello", sys.version_info[:3], sys.executable, "unsupported", _unsupported()), 2))
    elif request is not None:
        package = os.path.dirname(here)
        # The package is found by its place, under a name of its own: the target's environment has no replay-dd.
        module = type(sys)("_replay_dd_runtime")
        module.__path__ = [package]
        sys.modules["_replay_dd_runtime"] = module
        from _replay_dd_runtime.start import start

        start(request)


def _unsupported() -> str:
    version = "Python {}.{}".format(*sys.version_info[:2])
    if tuple(sys.version_info) < (3, 11):
        return version + ", too old: replay-dd controls programs of Python 3.11 and newer"
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return version + " without a GIL: its threads run at the same time, which replay-dd cannot control yet"
    return ""


_start()
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401  the one of the target's environment, if it has one
except ImportError:
    pass
finally:
    sys.modules.setdefault("sitecustomize", type(sys)("sitecustomize"))
