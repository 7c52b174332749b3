"""Variables that the interpreter was started without; see ``site/sitecustomize.py``."""

from __future__ import annotations

import marshal
import os


def restore(request_path: str) -> None:
    """Set the variables that were left in the folder of this run's request, if there are any."""
    path = os.path.join(os.path.dirname(request_path), "late")
    try:
        with open(path, "rb") as file:
            variables: dict[str, str] = marshal.load(file)
        os.unlink(path)
    except FileNotFoundError:
        return
    variables.pop("REPLAY_DD_PADDING", None)
    for name, value in variables.items():  # `update` would leave something in caches of abstract classes
        os.environ[name] = value
