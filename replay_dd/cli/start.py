"""Where the command starts: Ctrl-C ends it without a traceback even while its modules are loaded."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; exits with the status of the command."""
    try:
        from replay_dd.cli.main import main as run
    except KeyboardInterrupt:
        from replay_dd.errors import EXIT_INTERRUPTED

        sys.stderr.write("replay-dd: error: Interrupted. [interrupted]\n")
        sys.exit(EXIT_INTERRUPTED)
    run()
