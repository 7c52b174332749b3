"""A board of prices: a screen shows the prices of the moment and is told of those that change."""

import threading


class Board:
    def __init__(self):
        self.lock = threading.Lock()
        self.prices = {"tin": 20, "zinc": 31, "lead": 17}
        self.listeners = []

    def snapshot(self):
        with self.lock:
            return dict(self.prices)

    def subscribe(self, listener):
        with self.lock:
            self.listeners.append(listener)

    def change(self, metal, price):
        with self.lock:
            self.prices[metal] = price
            for listener in self.listeners:
                listener(metal, price)


class Screen:
    def __init__(self, board, *metals):
        self.metals = metals
        self.shown = {}
        for metal, price in board.snapshot().items():
            if metal in metals:
                self.shown[metal] = price
        board.subscribe(self.on_price)

    def on_price(self, metal, price):
        if metal in self.metals:
            self.shown[metal] = price


class Exchange:
    def __init__(self):
        self.board = Board()
        self.screens = []


def make():
    return Exchange()


def viewer(*metals):
    def run(exchange):
        exchange.screens.append(Screen(exchange.board, *metals))

    return run


def feed(**changes):
    def run(exchange):
        for metal, price in changes.items():
            exchange.board.change(metal, price)

    return run


WORKERS = (feed(tin=22, lead=16), viewer("tin"), feed(zinc=30), viewer("zinc", "lead"))


def holds(exchange):
    prices = exchange.board.prices
    return all(prices[metal] == price for screen in exchange.screens for metal, price in screen.shown.items())


def tell(exchange):
    return f"prices {exchange.board.prices}, shown {[screen.shown for screen in exchange.screens]}"


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
