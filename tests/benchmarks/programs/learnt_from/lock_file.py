"""A lock that is a file: whoever finds none makes it."""

import os
import tempfile
import threading


class Folder:
    def __init__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.lock = os.path.join(self._folder.name, "lock")
        self.busy = []
        self.most = 0

    def acquire(self, name):
        if os.path.exists(self.lock):
            return False
        with open(self.lock, "w") as file:
            file.write(name)
        return True

    def release(self):
        if os.path.exists(self.lock):
            os.remove(self.lock)


def make():
    return Folder()


def update(name):
    def run(folder):
        if folder.acquire(name):
            folder.busy.append(name)
            folder.most = max(folder.most, len(folder.busy))
            folder.busy.remove(name)
            folder.release()

    return run


WORKERS = (update("first"), update("second"))


def holds(folder):
    return folder.most == 1


def tell(folder):
    return f"{folder.most} at once"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
