"""``python -m replay_dd`` is the command ``replay-dd``."""

from __future__ import annotations

from replay_dd.cli.start import main

if __name__ == "__main__":
    main()
