"""Units of length, and a converter that all parts of a workshop share."""

import threading


class Converter:
    _default = None

    def __init__(self):
        self.factors = {"m": 1.0}
        self.define("km", 1000.0)
        self.define("cm", 0.01)

    @classmethod
    def default(cls):
        if cls._default is None:
            cls._default = cls()
        return cls._default

    def define(self, unit, factor):
        self.factors[unit] = factor

    def metres(self, amount, unit):
        return amount * self.factors[unit]


class Workshop:
    def __init__(self):
        self.lock = threading.Lock()
        self.cut = []

    def order(self, amount, unit):
        length = Converter.default().metres(amount, unit)
        with self.lock:
            self.cut.append(round(length, 2))


def make():
    Converter._default = None
    return Workshop()


def department(unit, factor, *amounts):
    def run(workshop):
        Converter.default().define(unit, factor)
        for amount in amounts:
            workshop.order(amount, unit)

    return run


WORKERS = (department("inch", 0.0254, 100), department("foot", 0.3, 10, 20), department("ell", 0.6, 5))


def holds(workshop):
    known = Converter.default().factors
    return sorted(workshop.cut) == [2.54, 3.0, 3.0, 6.0] and {"inch", "foot", "ell"} <= known.keys()


def tell(workshop):
    return f"cut {workshop.cut}, known {sorted(Converter.default().factors)}"


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
