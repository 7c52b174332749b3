"""Two servers of which one leads; a monitor lets the other one lead when it is down."""

import threading


class Cluster:
    def __init__(self):
        self.lock = threading.Lock()
        self.up = {"north": True, "south": True}
        self.leader = "north"
        self.writable = {"north"}
        self.written = []

    def restart(self, name):
        with self.lock:
            self.up[name] = False
            self.writable.discard(name)
        with self.lock:
            self.up[name] = True
            if self.leader == name:
                self.writable.add(name)

    def check(self):
        leader = self.leader
        with self.lock:
            up = self.up[leader]
        if not up:
            for name in self.up:
                if name != leader:
                    self.promote(name)

    def promote(self, name):
        with self.lock:
            self.leader = name
            self.writable.add(name)

    def write(self, text):
        with self.lock:
            self.written.append((self.leader, text))


def make():
    return Cluster()


def upgrade(cluster):
    cluster.restart("north")


def monitor(cluster):
    cluster.check()


def client(cluster):
    for text in ("one", "two", "three"):
        cluster.write(text)


WORKERS = (client, upgrade, monitor)


def holds(cluster):
    return len(cluster.writable) == 1


def tell(cluster):
    return f"leader {cluster.leader}, writable {cluster.writable}"


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
