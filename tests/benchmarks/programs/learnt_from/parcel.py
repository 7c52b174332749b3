"""An order that is shipped and cancelled, each allowed only from the state before."""

import threading


class Order:
    def __init__(self):
        self.state = "paid"
        self.history = ["new", "paid"]
        self.lock = threading.Lock()

    def may_become(self, state):
        allowed = {"paid": ("shipped", "cancelled"), "shipped": ("returned",)}
        return state in allowed.get(self.state, ())

    def become(self, state):
        if not self.may_become(state):
            return False
        with self.lock:
            self.state = state
            self.history.append(state)
        return True


def make():
    return Order()


def ship(order):
    order.become("shipped")


def cancel(order):
    if order.state == "paid":
        order.become("cancelled")


WORKERS = (ship, cancel)


def holds(order):
    return not {"shipped", "cancelled"} <= set(order.history)


def tell(order):
    return f"went through {order.history}"


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
