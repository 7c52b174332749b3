"""Exchange rates that are worked out once and then remembered."""

import threading
from concurrent.futures import ThreadPoolExecutor

IN_EUROS = {"EUR": 100, "USD": 92, "GBP": 117, "CHF": 105, "SEK": 9}


class Rates:
    def __init__(self):
        self.lock = threading.Lock()
        self.known = {}
        self.asked = 0
        self.in_vain = 0
        self.answers = []

    def work_out(self, source, target):
        return round(IN_EUROS[source] / IN_EUROS[target], 4)

    def rate(self, source, target):
        pair = source, target
        with self.lock:
            self.asked += 1
            if pair in self.known:
                return self.known[pair]
        value = self.work_out(source, target)
        with self.lock:
            if pair in self.known:
                # Somebody was faster: all are to see the same object.
                self.in_vain += 1
                return self.rate(source, target)
            self.known[pair] = value
            self.known[target, source] = 1 / value
        return value


def make():
    return Rates()


def till(*pairs):
    def run(rates):
        total = 0.0
        for source, target in pairs:
            total += 100 * rates.rate(source, target)
        rates.answers.append(total)

    return run


WORKERS = (
    till(("USD", "EUR"), ("GBP", "EUR")),
    till(("CHF", "EUR"), ("EUR", "GBP"), ("SEK", "USD")),
    till(("SEK", "EUR"), ("EUR", "SEK"), ("USD", "EUR")),
)


def holds(rates):
    return len(rates.answers) == 3


def tell(rates):
    return f"answers {rates.answers}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
