"""Serve the example page of EditArea, as Debian's package libjs-edit-area installs it, on the loopback device."""

import http.server
import sys
from pathlib import Path

FOLDERS = {
    "exemples": Path("/usr/share/doc/libjs-edit-area"),
    "edit_area": Path("/usr/share/javascript/edit-area"),
}
PORT = 8765


def is_installed() -> bool:
    return (FOLDERS["exemples"] / "exemple_full.html").is_file() and FOLDERS["edit_area"].is_dir()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves each folder under the name that the pages expect."""

    def translate_path(self, path: str) -> str:
        first, _, rest = path.split("?")[0].strip("/").partition("/")
        folder = FOLDERS.get(first)
        if folder is None or ".." in rest.split("/"):
            return "/nowhere"
        return str(folder / rest)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    if not is_installed():
        sys.exit("EditArea is not installed: apt install libjs-edit-area")
    http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
