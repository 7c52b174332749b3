"""An order that is paid, then shipped, unless the customer cancels it before."""

import threading


class Order:
    def __init__(self):
        self.lock = threading.Lock()
        self.state = "new"
        self.history = []
        self.parcels = 0
        self.refunds = 0

    def move(self, state):
        with self.lock:
            self.history.append((self.state, state))
            self.state = state

    def pay(self):
        if self.state == "new":
            self.move("paid")

    def ship(self):
        if self.state == "paid":
            self.move("shipped")
            self.parcels += 1

    def cancel(self):
        if self.state == "paid":
            self.refunds += 1
            self.move("cancelled")
        elif self.state == "new":
            self.move("cancelled")


def make():
    return Order()


def bank(order):
    order.pay()


def warehouse(order):
    order.ship()


def customer(order):
    order.cancel()


WORKERS = (bank, warehouse, customer)


def holds(order):
    return order.parcels + order.refunds < 2


def tell(order):
    return f"history {order.history}, parcels {order.parcels}, refunds {order.refunds}"


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
