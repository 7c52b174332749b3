"""A store that only the holder of a lease writes, which another may take when it has run out."""

import threading


class Lease:
    def __init__(self):
        self.lock = threading.Lock()
        self.holder = "east"
        self.until = 10

    def valid(self, who, now):
        with self.lock:
            return self.holder == who and now < self.until

    def take(self, who, now):
        with self.lock:
            if now < self.until:
                return False
            self.holder = who
            self.until = now + 10
            return True


class Cluster:
    def __init__(self):
        self.now = 0
        self.lease = Lease()
        self.writes = []

    def write(self, who, value):
        if self.lease.valid(who, self.now):
            self.writes.append((who, value))


def make():
    return Cluster()


def east(cluster):
    for value in (1, 2):
        cluster.write("east", value)


def clock(cluster):
    for _ in range(3):
        cluster.now += 5


def west(cluster):
    if cluster.lease.take("west", cluster.now):
        cluster.write("west", 3)


WORKERS = (east, clock, west)


def holds(cluster):
    writers = [who for who, _ in cluster.writes]
    return writers == sorted(writers)


def tell(cluster):
    return f"writes {cluster.writes}"


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
