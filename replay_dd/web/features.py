"""Parts of Chromium that tests have no use for, and the argument that starts it without them.

Each test has a context, and each context a window. A window of newer Chromiums loads two pages of its own, for what it
suggests below its address bar. They take a process, and as much processor time as a short test, though the window is
never shown.

Chromium heeds only the last `--disable-features`, and Playwright gives one of its own, which keeps the browser from
asking other servers for this and that. Playwright tells its arguments only when a browser does not start, so it is
asked to start a program that ends at once.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

# Names that a Chromium does not know mean nothing to it.
UNUSED_FEATURES = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
_OPTION = "--disable-features="
_TOLD = re.compile(rf"{_OPTION}(\S+)")


def without_unused_features(playwright: Playwright) -> list[str]:
    """What to add to the arguments of the browser: nothing, where it cannot be told what Playwright gives.

    Args:
        playwright: what will start the browser.
    """
    ends_at_once = shutil.which("false")
    if ends_at_once is None:
        return []
    try:
        playwright.chromium.launch(executable_path=ends_at_once).close()
    except Exception as error:  # as with a broken browser, it may be any
        told = _TOLD.search(str(error))
        return [] if told is None else [_OPTION + ",".join((told[1], *UNUSED_FEATURES))]
    return []
