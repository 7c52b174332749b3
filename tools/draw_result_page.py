"""The picture of a result page: that of the guide, as a browser shows it.

`python -m tools.draw_result_page` does what the guide does, steps to where the failing run goes wrong, and takes the
picture of the upper part of the page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools.documents import CHECKOUT, do, steps_of
from tools.small_png import small_png

GUIDE = CHECKOUT / "docs" / "how-to" / "result-pages.md"
PICTURE = CHECKOUT / "docs" / "pictures" / "result-page.png"
PAGE = "race.html"
SIZE_PX = (1200, 760)
_BELOW_PX = 12


def main() -> int:
    """Make the page, and take the picture."""
    from replay_dd.web.browser import WebBrowser

    with tempfile.TemporaryDirectory(prefix="replay-dd-page-") as folder:
        for step in steps_of(GUIDE.read_text(encoding="utf-8")):
            done = do(step, Path(folder))
            if done is not None and done.status:
                sys.exit(f"ended with {done.status}: $ {step.text}")
        with WebBrowser() as browser, browser.fresh_context(None) as context:
            page = context.new_page()
            page.set_viewport_size({"width": SIZE_PX[0], "height": SIZE_PX[1]})
            page.goto((Path(folder) / PAGE).as_uri())
            says = page.locator("#says")
            while "0.2 reads" not in says.inner_text().partition(" · ")[0]:
                page.keyboard.press("ArrowRight")
            below = page.locator("#player").bounding_box()
            assert below is not None
            height = below["y"] + below["height"] + _BELOW_PX
            clip = {"x": 0.0, "y": 0.0, "width": float(SIZE_PX[0]), "height": height}
            taken = page.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]  # it is such a dict
            PICTURE.write_bytes(small_png(taken))
    print(f"{PICTURE.relative_to(CHECKOUT)}: {PICTURE.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
