"""Folders that users move about; a folder must never come to lie within itself."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Tree:
    def __init__(self, **parents):
        self.lock = threading.Lock()
        self.parents = parents

    def parent(self, name):
        with self.lock:
            return self.parents[name]

    def is_inside(self, name, other):
        """Whether a folder lies in another, however deep, or is that one."""
        while name != "root":
            if name == other:
                return True
            name = self.parent(name)
        return False

    def move(self, name, target):
        if self.is_inside(target, name):
            return False
        with self.lock:
            self.parents[name] = target
        return True

    def lost(self):
        """The folders from which no way leads to the root."""
        found = []
        for start in sorted(self.parents):
            name, steps = start, 0
            while name != "root" and steps <= len(self.parents):
                name = self.parents[name]
                steps += 1
            if name != "root":
                found.append(start)
        return found


def make():
    return Tree(photos="root", holiday="photos", letters="root", bills="letters", music="root", books="root")


def tidy(name, target):
    def run(tree):
        tree.move(name, target)

    return run


WORKERS = (tidy("photos", "bills"), tidy("music", "books"), tidy("letters", "holiday"))


def holds(tree):
    return not tree.lost()


def tell(tree):
    return f"lost {tree.lost()}, parents {tree.parents}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
