"""Install the system packages that tests of sessions with windows and in browsers need, or say what is missing.

They are Debian packages: a display without a screen (Xvfb), a window manager, a browser, the toolkits that programs
with windows are made of, and things to examine. Where they are missing and cannot be installed, the tests that need
them are skipped, and this says so aloud.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys

# The program, or the pattern of a file, that shows that a package is there, and the package.
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
    # For the Python of the system: 35 MB in all, where packages of the Python index would be 250.
    "/usr/lib/python3/dist-packages/PyQt5/QtWidgets.*": "python3-pyqt5",
    "/usr/lib/python3/dist-packages/PyQt6/QtWidgets.*": "python3-pyqt6",
    "/usr/lib/python3/dist-packages/gi/__init__.py": "python3-gi",
    "/usr/lib/*/girepository-1.0/Gtk-3.0.typelib": "gir1.2-gtk-3.0",
    "/usr/lib/*/girepository-1.0/Gtk-4.0.typelib": "gir1.2-gtk-4.0",
    "/usr/lib/python3*/tkinter/__init__.py": "python3-tk",
}


def missing() -> list[str]:
    return [package for sign, package in WANTED.items() if shutil.which(sign) is None and not glob.glob(sign)]


def install(packages: list[str]) -> str:
    """Install them; answer why that did not work, or nothing."""
    apt = shutil.which("apt-get")
    if apt is None:
        return "there is no apt-get"
    if os.geteuid() != 0:
        return "that needs root"
    said = _run(apt, "update", "-qq")
    # All at once is faster; where one of them is not to be had, the others still are.
    if _install(apt, packages):
        for package in packages:
            said = _install(apt, [package]) or said
    return said if missing() else ""


def _install(apt: str, packages: list[str]) -> str:
    return _run(
        *(apt, "-o", "DPkg::Lock::Timeout=300", "install", "-y", "-qq", "--no-install-recommends", *packages),
    )


def _run(*command: str) -> str:
    """Run a command; answer the last line that it wrote, if it did not succeed."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return (done.stdout.strip().splitlines() or ["it said nothing"])[-1] if done.returncode else ""


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
