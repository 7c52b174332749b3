"""Programs written against packages from the index that use threads in earnest, one for each way of using them."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
ENVIRONMENTS = Path(__file__).resolve().parents[2] / "build" / "compatibility"


@dataclass(frozen=True)
class Package:
    """A package and the programs that use it (files in ``programs``, without their ending)."""

    requirement: str
    programs: tuple[str, ...]


PACKAGES = (
    Package("apscheduler==3.11.3", ("apscheduler_background",)),
    Package("cachetools==8.0.0", ("cachetools_cached",)),
    Package("diskcache==5.6.3", ("diskcache_threads",)),
    Package("huey==3.5.4", ("huey_consumer",)),
    Package("janus==2.0.0", ("janus_queue",)),
    Package("loguru==0.7.3", ("loguru_threads",)),
    Package("peewee==4.5.3", ("peewee_pool",)),
    Package("prometheus_client==0.26.0", ("prometheus_metrics",)),
    Package("pykka==4.5.0", ("pykka_actors",)),
    Package("python-socketio==5.18.1", ("socketio_threads",)),
    Package("urllib3==2.8.0", ("urllib3_pool",)),
    Package("watchdog==7.1.0", ("watchdog_inotify", "watchdog_polling")),
)


def environment_with(base: Path, version: str) -> Path:
    """The interpreter of an environment with all packages, made by plain pip if it is not there yet.

    Raises:
        subprocess.CalledProcessError: they cannot be installed here.
    """
    requirements = [package.requirement for package in PACKAGES]
    stamp = hashlib.sha256(f"{base} {requirements}".encode()).hexdigest()
    folder = ENVIRONMENTS / f"python-{version}"
    made_of = folder / "made-of"
    python = folder / "bin" / "python"
    if not (made_of.is_file() and made_of.read_text() == stamp):
        print(f"installing {len(requirements)} packages for Python {version}", file=sys.stderr)
        subprocess.run([str(base), "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", *requirements], check=True)
        made_of.write_text(stamp)
    return python
