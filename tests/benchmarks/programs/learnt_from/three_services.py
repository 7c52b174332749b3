"""Three services that call one another with their own lock held."""

import threading


class Service:
    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()
        self.asks = None
        self.served = 0

    def ping(self):
        with self.lock:
            self.served += 1
            return self.name

    def refresh(self):
        with self.lock:
            self.served += 1
            return self.asks.ping()


class Cluster:
    def __init__(self):
        self.services = [Service(name) for name in ("users", "orders", "stock")]
        for number, service in enumerate(self.services):
            service.asks = self.services[(number + 1) % 3]


def make():
    return Cluster()


def refresher(number):
    def run(cluster):
        service = cluster.services[number]
        service.ping()
        service.refresh()

    return run


WORKERS = (refresher(0), refresher(1), refresher(2))


def holds(cluster):
    return sum(service.served for service in cluster.services) == 9


def tell(cluster):
    return f"served {[service.served for service in cluster.services]}"


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
