"""Statistics handed out every minute and begun anew."""

import threading


class Stats:
    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {"hits": 0, "errors": 0}

    def add(self, name):
        with self.lock:
            self.counts[name] += 1

    def hand_out(self):
        counts = dict(self.counts)
        with self.lock:
            self.counts = dict.fromkeys(counts, 0)
        return counts


class Service:
    def __init__(self):
        self.stats = Stats()
        self.reports = []


def make():
    return Service()


def serve(service):
    for number in range(8):
        service.stats.add("errors" if number % 4 == 3 else "hits")


def report(service):
    service.reports.append(service.stats.hand_out())


WORKERS = (serve, report)


def holds(service):
    return sum(sum(counts.values()) for counts in [*service.reports, service.stats.counts]) == 8


def tell(service):
    return f"reports {service.reports}, then {service.stats.counts}"


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
