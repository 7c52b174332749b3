"""What a session depends on that no log can hold: the fonts and themes that are installed.

They decide how large texts and windows are, and so what lies under a click. A log notes them, and a replay among others
tells so: it may miss what the recording hit.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

_LIMIT_S = 30
_DIGITS = 16
# Fonts of the X server itself, for programs of Xt and Motif, and what toolkits draw with.
_X_FONTS = Path("/usr/share/fonts/X11")
_THEMES = (Path("/usr/share/themes"), Path("/usr/share/icons"))


def surroundings() -> dict[str, str]:
    """The fonts and themes of this machine, each as their number and a digest of their names and versions."""
    found = {"fonts": _of(_fontconfig_fonts()), "X fonts": _of(_x_fonts()), "themes": _of(_themes())}
    return {what: told for what, told in found.items() if told}


def differences(recorded: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """What differs between two machines, in words; nothing for logs that note nothing."""
    told = []
    for what in recorded:
        if recorded[what] != now.get(what, ""):
            before, after = (of.get(what, "0").partition(" ")[0] for of in (recorded, now))
            counts = "others of the same number" if before == after else f"{before} then, {after} now"
            told.append(f"the installed {what} are not those of the recording ({counts})")
    return told


def _of(names: Iterable[str]) -> str:
    """The number and the digest of some names; empty for none."""
    known = sorted(set(names))
    digest = hashlib.sha256("\n".join(known).encode(errors="surrogateescape")).hexdigest()[:_DIGITS]
    return f"{len(known)} {digest}" if known else ""


def _fontconfig_fonts() -> list[str]:
    program = shutil.which("fc-list")
    if program is None:
        return []
    # Those of the system: a replay has another HOME.
    environment = {
        **os.environ,
        "HOME": "/nonexistent",
        "XDG_DATA_HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
    }
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return (
            subprocess.run(
                [program, "--format", "%{family}|%{style}|%{fontversion}\n"],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT_S,
                check=True,
            )
            .stdout.decode(errors="surrogateescape")
            .splitlines()
        )
    return []


def _x_fonts() -> list[str]:
    found: list[str] = []
    for file in sorted(_X_FONTS.glob("*/fonts.dir")):
        with contextlib.suppress(OSError):
            found += file.read_text(errors="surrogateescape").splitlines()[1:]
    return found


def _themes() -> list[str]:
    found: list[str] = []
    for folder in _THEMES:
        with contextlib.suppress(OSError):
            found += [f"{folder.name}/{name}" for name in os.listdir(folder)]
    return found
