"""Packages put in the order of installation, with a check for circles."""

import threading
from concurrent.futures import ThreadPoolExecutor

NEEDS = {
    "shop": ("web", "bank"),
    "web": ("http",),
    "bank": ("crypto",),
    "http": ("text",),
    "wiki": ("text", "diff"),
    "diff": (),
    "crypto": ("numbers",),
    "numbers": (),
    "text": (),
    "game": ("sound", "numbers"),
    "sound": (),
}


class Installer:
    def __init__(self):
        self.lock = threading.Lock()
        self.visiting = set()
        self.order = {}
        self.done = []

    def visit(self, name):
        with self.lock:
            if name in self.order:
                return
        if name in self.visiting:
            raise ValueError(f"{name} needs itself")
        self.visiting.add(name)
        for needed in NEEDS[name]:
            self.visit(needed)
        with self.lock:
            self.order[name] = len(self.order)
        self.visiting.discard(name)


def make():
    return Installer()


def install(name):
    def run(installer):
        installer.visit(name)
        installer.done.append(name)

    return run


WORKERS = (install("shop"), install("wiki"), install("game"))


def holds(installer):
    return len(installer.done) == 3 and len(installer.order) == len(NEEDS)


def tell(installer):
    return f"order {installer.order}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
