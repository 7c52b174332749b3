"""Install the system packages that tests of sessions with windows and in browsers need, or say what is missing.

They are Debian packages: a display without a screen (Xvfb), a window manager, a browser, and things to examine. Where
they are missing and cannot be installed, the tests that need them are skipped, and this says so aloud.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# The program, or the file, that shows that a package is there, and the package.
WANTED = {
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "xcalc": "x11-apps",
    "wish": "tk",
    "gdb": "gdb",
    "chromium": "chromium",
    "/usr/share/javascript/edit-area/edit_area_full.js": "libjs-edit-area",
    "/usr/games/xsok": "xsok",
}


def missing() -> list[str]:
    return [package for sign, package in WANTED.items() if shutil.which(sign) is None and not os.path.exists(sign)]


def install(packages: list[str]) -> str:
    """Install them; answer why that did not work, or nothing."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "there is no apt-get"
    if os.geteuid() != 0:
        return "that needs root"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    said = ""
    for arguments in (
        ["update", "-qq"],
        ["-o", "DPkg::Lock::Timeout=300", "install", "-y", "-qq", "--no-install-recommends", *packages],
    ):
        done = subprocess.run(
            [apt, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said = done.stdout.strip().splitlines()[-1] if done.returncode and done.stdout.strip() else ""
    return said if missing() else ""


def main() -> int:
    wanted = missing()
    if not wanted:
        return 0
    print(f"Installing {' '.join(wanted)}", flush=True)
    problem = install(wanted)
    if left := missing():
        print(f"SKIPPED: tests that need {' '.join(left)}, which cannot be installed ({problem})", flush=True)
        print(f"         On Debian or Ubuntu: apt-get install {' '.join(left)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
