"""Exchange rates loaded once, however many ask for them at the same time."""

import threading


class Flight:
    def __init__(self):
        self.landed = threading.Event()
        self.value = None


class Rates:
    def __init__(self):
        self.lock = threading.Lock()
        self.known = {}
        self.flights = {}
        self.loads = []

    def load(self, currency):
        self.loads.append(currency)
        return 100 + len(currency)

    def get(self, currency):
        if currency in self.known:
            return self.known[currency]
        with self.lock:
            flight = self.flights.get(currency)
            first = flight is None
            if first:
                flight = Flight()
                self.flights[currency] = flight
        if first:
            flight.value = self.load(currency)
            with self.lock:
                self.known[currency] = flight.value
                del self.flights[currency]
            flight.landed.set()
        else:
            flight.landed.wait()
        return flight.value


def make():
    return Rates()


def ask(rates):
    rates.get("euro")


WORKERS = (ask, ask)


def holds(rates):
    return rates.loads == ["euro"]


def tell(rates):
    return f"loaded {rates.loads}"


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
