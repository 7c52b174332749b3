"""Prices are read from a list once; all shops ask the same catalogue."""

import threading

PRICES = "apple=3 pear=4 plum=1"


class Catalog:
    _shared = None
    _guard = threading.Lock()

    def __init__(self):
        self.loaded = False
        self.prices = None

    @classmethod
    def shared(cls):
        with cls._guard:
            if cls._shared is None:
                cls._shared = cls()
            return cls._shared

    def ensure_loaded(self):
        if self.loaded:
            return
        self.loaded = True
        self.prices = dict(self._parse(PRICES))

    def _parse(self, text):
        for pair in text.split():
            name, price = pair.split("=")
            yield name, int(price)

    def price(self, name):
        self.ensure_loaded()
        return self.prices[name]


class Shop(threading.Thread):
    def __init__(self, wanted):
        super().__init__()
        self.wanted = wanted
        self.bill = None

    def run(self):
        catalog = Catalog.shared()
        self.bill = sum(catalog.price(name) for name in self.wanted)


def main():
    shops = [Shop(["apple", "plum"]), Shop(["pear"])]
    for shop in shops:
        shop.start()
    for shop in shops:
        shop.join()
    assert [shop.bill for shop in shops] == [4, 4]


if __name__ == "__main__":
    main()
