"""Lets a Python program stop where it first touches its input, just before the program starts.

The tool puts this folder in front of ``PYTHONPATH``; the interpreter then imports this module by itself at start-up.
It undoes its own traces (path entry, environment variables), and gives way to the environment's own ``sitecustomize``.
"""

import os
import sys


def _start() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    request = os.environ.pop("REPLAY_DD_FORK", None)
    before = os.environ.pop("REPLAY_DD_BEFORE_PYTHONPATH", None)
    if before is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = before
    if request is None:
        return
    descriptor, parent, runtime, path = request.split("=", 3)
    if os.getppid() != int(parent):
        return  # a program that the one to be forked has started
    package = type(sys)("_replay_dd_input")
    package.__path__ = [os.path.dirname(here)]
    sys.modules["_replay_dd_input"] = package
    from _replay_dd_input.fork_point import stop_at_input

    stop_at_input(int(descriptor), runtime, path)


_start()
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401  the one of the target's environment, if it has one
except ImportError:
    pass
finally:
    sys.modules.setdefault("sitecustomize", type(sys)("sitecustomize"))
