"""replay-dd: record a run, replay it exactly, isolate why it fails."""

from __future__ import annotations

__version__ = "0.1.0"
