"""Small pictures on the disk, in a folder for each of their sizes."""

import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Thumbnails:
    def __init__(self):
        self.place = tempfile.TemporaryDirectory()
        self.root = Path(self.place.name)
        self.lock = threading.Lock()
        self.index = {}

    def folder(self, size):
        folder = self.root / f"{size}x{size}"
        if not folder.exists():
            folder.mkdir()
        return folder

    def shrink(self, picture, size):
        return picture[:size].encode()

    def save(self, name, picture, size):
        content = self.shrink(picture, size)
        path = self.folder(size) / f"{name}.img"
        path.write_bytes(content)
        with self.lock:
            self.index[name, size] = path


def make():
    return Thumbnails()


def upload(name, picture, *sizes):
    def run(thumbnails):
        for size in sizes:
            thumbnails.save(name, picture, size)

    return run


WORKERS = (
    upload("cat", "c" * 40, 16, 8),
    upload("dog", "d" * 40, 32, 16),
    upload("owl", "o" * 40, 24),
)


def holds(thumbnails):
    return len(thumbnails.index) == 5 and all(
        path.is_file() and path.stat().st_size == size for (_, size), path in thumbnails.index.items()
    )


def tell(thumbnails):
    return f"saved {sorted(thumbnails.index)}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
