"""The picture of a film strip: the top of a strip that `replay-dd events --strip` wrote, as a browser shows it.

`make demo-gui`, and then `python -m tools.draw_film_strip build/demo-gui/minimal.html`, makes the one in the documents.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.documents import CHECKOUT

PICTURE = CHECKOUT / "docs" / "pictures" / "film-strip.png"
# The summary, two pictures, and how the program ended.
SIZE_PX = (1000, 790)


def main(strip: Path) -> int:
    """Take the picture."""
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("there is no chromium on the PATH")
    with tempfile.TemporaryDirectory(prefix="replay-dd-strip-") as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", f"--screenshot={PICTURE}", "--window-size={},{}".format(*SIZE_PX)]
        subprocess.run([*command, strip.resolve().as_uri()], stderr=subprocess.DEVNULL, check=True, timeout=120)
    print(f"{PICTURE.relative_to(CHECKOUT)}: {PICTURE.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
