"""The smallest box around the points that several scanners find."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field


@dataclass
class Box:
    left: int = 1000
    right: int = -1000


@dataclass
class Scan:
    box: Box = field(default_factory=Box)
    lock: threading.Lock = field(default_factory=threading.Lock)
    points: int = 0

    def add(self, x):
        if x < self.box.left:
            self.box.left = x
        if x > self.box.right:
            self.box.right = x
        with self.lock:
            self.points += 1


def make():
    return Scan()


def scanner(*places):
    def run(scan):
        for x in places:
            scan.add(x)

    return run


WORKERS = (scanner(40, 20), scanner(15), scanner(60, 30), scanner(5), scanner(80))


def holds(scan):
    return scan.points == 7 and (scan.box.left, scan.box.right) == (5, 80)


def tell(scan):
    return f"{scan.points} points in {scan.box}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
