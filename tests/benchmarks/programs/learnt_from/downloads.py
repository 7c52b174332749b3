"""A cache of files on disk: what is not there yet is written to a part file first, so that nobody sees half a file."""

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REMOTE = {
    "logo.svg": (b"<svg>", b"</svg>"),
    "site.css": (b"body {", b"margin: 0", b"}"),
    "app.js": (b"run(", b")"),
    "font.woff": (b"wOFF",),
}
DELAYS = {"font.woff": 0.02}


class FileCache:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.pages = []

    def get(self, name):
        target = Path(self.folder.name) / name
        if not target.exists():
            time.sleep(DELAYS.get(name, 0))
            part = target.with_name(name + ".part")
            with open(part, "wb") as file:
                for chunk in REMOTE[name]:
                    file.write(chunk)
            os.replace(part, target)
        return target.read_bytes()


def make():
    return FileCache()


def page(title, *names):
    def run(cache):
        size = 0
        for name in names:
            size += len(cache.get(name))
        cache.pages.append((title, size))

    return run


WORKERS = (page("home", "logo.svg", "site.css"), page("shop", "app.js"), page("help", "font.woff", "logo.svg"))


def holds(cache):
    return sorted(cache.pages) == [("help", 15), ("home", 27), ("shop", 5)]


def tell(cache):
    return f"pages {cache.pages}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
