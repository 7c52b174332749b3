"""A seat booked by comparing its owner with what was seen, at the price that was seen."""

import threading


class Seat:
    def __init__(self):
        self.owner = None
        self.price = 40
        self.paid = {}
        self.lock = threading.Lock()

    def compare_and_set(self, seen, owner):
        with self.lock:
            if self.owner is not seen:
                return False
            self.owner = owner
            return True

    def book(self, owner):
        seen, price = self.owner, self.price
        if seen is None and self.compare_and_set(seen, owner):
            self.paid[owner] = price


def make():
    return Seat()


def customer(seat):
    seat.book("ann")


def agent(seat):
    if seat.compare_and_set(None, "agent"):
        seat.price = 60
        seat.compare_and_set("agent", None)


WORKERS = (customer, agent)


def holds(seat):
    return "ann" not in seat.paid or seat.price == 40 or seat.paid["ann"] == seat.price


def tell(seat):
    return f"sold for {seat.paid} at a price of {seat.price}"


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
