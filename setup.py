"""Builds the optional C accelerator; everything else about the package stands in pyproject.toml.

The accelerator makes runs faster, brings the waits of SQLite under the schedule, and keeps what the tool does from
moving the program's objects. Where its source or a C compiler is missing, the package is installed without it.
"""

from pathlib import Path

from setuptools import Extension, setup

RUNTIME = "replay_dd/schedules/runtime/"
PARTS = ("accelerator", "away", "counting", "databases", "leaving", "memory", "places", "tables")
SOURCES = [f"{RUNTIME}_{part}.c" for part in PARTS]
HEADERS = [RUNTIME + "_accelerator.h"]

if (Path(__file__).parent / SOURCES[0]).exists():
    # `optional`: a build that fails is told and does not stop the installation.
    name = "replay_dd.schedules.runtime._accelerator"
    setup(ext_modules=[Extension(name, SOURCES, depends=HEADERS, optional=True)])
else:
    setup()
