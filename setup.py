"""Builds the optional C accelerator; everything else about the package stands in pyproject.toml.

The accelerator makes runs faster and changes nothing else: where its source or a C compiler is missing, the package is
installed without it.
"""

from pathlib import Path

from setuptools import Extension, setup

ACCELERATOR = "replay_dd/schedules/runtime/_accelerator.c"

if (Path(__file__).parent / ACCELERATOR).exists():
    # `optional`: a build that fails is told and does not stop the installation.
    setup(ext_modules=[Extension("replay_dd.schedules.runtime._accelerator", [ACCELERATOR], optional=True)])
else:
    setup()
