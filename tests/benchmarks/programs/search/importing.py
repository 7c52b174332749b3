"""The race of ``count.py`` after the import of a package, whose name is the argument."""

import importlib
import sys

importlib.import_module(sys.argv[1])
importlib.import_module("count")
