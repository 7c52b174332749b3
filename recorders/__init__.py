"""The recorders that a user meets. The tool finds them through the entry point group ``replay_dd.recorders``.

A recorder is a class without arguments that has a ``name`` and a method ``record``. It is never imported inside a
target process.
"""

from __future__ import annotations
