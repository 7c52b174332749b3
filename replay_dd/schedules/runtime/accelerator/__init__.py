"""The C accelerator, if there is one for this interpreter.

It is a matter of the target's interpreter: the one that was compiled for its version is used, if there is one beside
this file, with the interface that ``_accelerator.pyi`` declares; else Python does its work, and the reason is told.
"""

from __future__ import annotations

import _imp
import os

from ..compat import NAME

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _load_accelerator() -> tuple[Any, str]:
    """(the accelerator or None, why)."""
    if os.environ.get("REPLAY_DD_ACCELERATOR") == "off":
        return None, "the accelerator is switched off"
    try:
        from . import _accelerator
    except ImportError as error:
        missing = "cannot import name" in str(error)
        return None, f"no accelerator for Python {NAME}" if missing else f"the accelerator fails to load: {error}"
    with open(os.path.join(os.path.dirname(__file__), "_accelerator.pyi"), "rb") as file:
        interface = _imp.source_hash(0, file.read()).hex()
    if getattr(_accelerator, "interface", "") != interface:  # in an editable installation
        return None, f"the accelerator for Python {NAME} is of another version of replay-dd; install it again"
    return _accelerator, f"the accelerator for Python {NAME}"


accelerator, accelerator_reason = _load_accelerator()
