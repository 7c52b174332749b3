"""An office that issues invoices with numbers from one generator."""

import threading

WEIGHTS = (7, 3, 1)


def check_digit(digits):
    total = 0
    for place, digit in enumerate(digits):
        total += int(digit) * WEIGHTS[place % len(WEIGHTS)]
    return total % 10


def numbers(year):
    count = 0
    while True:
        count += 1
        digits = f"{year}{count:03}"
        yield f"{year}-{count:03}-{check_digit(digits)}"


class Office:
    def __init__(self):
        self.numbers = numbers(26)
        self.lock = threading.Lock()
        self.invoices = {}

    def issue(self, customer, amount):
        number = next(self.numbers)
        with self.lock:
            self.invoices[number] = (customer, amount)
        return number


def make():
    return Office()


def clerk(*orders):
    def run(office):
        for customer, amount in orders:
            office.issue(customer, amount)

    return run


WORKERS = (
    clerk(("Abel", 120), ("Baker", 75)),
    clerk(("Cole", 310)),
    clerk(("Dunn", 42), ("Evans", 18)),
)


def holds(office):
    return len(office.invoices) == 5


def tell(office):
    return f"invoices {office.invoices}"


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
