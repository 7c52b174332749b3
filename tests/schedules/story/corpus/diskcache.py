"""A cache in a folder: one thread reads entries, another throws old ones away."""

import os
import shutil
import tempfile
import threading


class FolderCache:
    def __init__(self, folder):
        self.folder = folder

    def path(self, key):
        return os.path.join(self.folder, f"{key}.txt")

    def put(self, key, text):
        with open(self.path(key), "w") as file:
            file.write(text)

    def get(self, key, default=None):
        path = self.path(key)
        if not os.path.exists(path):
            return default
        with open(path) as file:
            return file.read()

    def purge(self):
        for name in sorted(os.listdir(self.folder)):
            os.remove(os.path.join(self.folder, name))


def main():
    folder = tempfile.mkdtemp()
    cache = FolderCache(folder)
    cache.put("greeting", "hello")
    found = []
    reader = threading.Thread(target=lambda: found.append(cache.get("greeting", "(none)")))
    cleaner = threading.Thread(target=cache.purge)
    reader.start()
    cleaner.start()
    reader.join()
    cleaner.join()
    shutil.rmtree(folder)
    assert found[0] in ("hello", "(none)"), found


if __name__ == "__main__":
    main()
