"""Rights kept as bits of a number."""

import threading

READ, WRITE, SHARE, OWN = 1, 2, 4, 8


class Rights:
    def __init__(self):
        self.bits = 0

    def grant(self, right):
        self.bits = self.bits | self.checked(right)

    def checked(self, right):
        if right not in (READ, WRITE, SHARE, OWN):
            raise ValueError(right)
        return right


def make():
    return Rights()


def reader(rights):
    rights.grant(READ)


def writer(rights):
    rights.grant(WRITE)


WORKERS = (reader, writer)


def holds(rights):
    return rights.bits == READ | WRITE


def tell(rights):
    return f"bits {rights.bits:04b}"


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
