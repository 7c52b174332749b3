"""A payment sent again, recognized by its key only when the first has gone through."""

import threading


class Payments:
    def __init__(self):
        self.by_key = {}
        self.charged = []
        self.lock = threading.Lock()

    def charge(self, card, amount):
        with self.lock:
            self.charged.append((card, amount))
            return len(self.charged)

    def pay(self, key, card, amount):
        with self.lock:
            known = self.by_key.get(key)
        if known is not None:
            return known
        receipt = self.charge(card, amount)
        with self.lock:
            return self.by_key.setdefault(key, receipt)


def make():
    return Payments()


def request(*keys):
    def run(payments):
        for key in keys:
            payments.pay(key, f"card of {key}", 10)

    return run


WORKERS = (request("k1", "k2"), request("k3", "k4"), request("k5", "k2"), request("k6"))


def holds(payments):
    return len(payments.charged) == 6


def tell(payments):
    return f"charged {payments.charged}"


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
