"""Settings of a machine, changed in groups; a group with a value that is not allowed is taken back as a whole."""

import threading

LIMITS = {"speed": (1, 90), "heat": (0, 250), "pressure": (1, 12), "fans": (0, 4)}


class NotAllowed(Exception):
    pass


class Machine:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {"speed": 10, "heat": 20, "pressure": 1, "fans": 0}
        self.refused = []

    def check(self, name, value):
        low, high = LIMITS[name]
        if not low <= value <= high:
            raise NotAllowed(f"{name} {value}")

    def set(self, name, value):
        self.check(name, value)
        with self.lock:
            self.values[name] = value

    def copy(self):
        with self.lock:
            return dict(self.values)

    def restore(self, values):
        with self.lock:
            self.values.update(values)

    def change(self, who, **values):
        before = self.copy()
        try:
            for name, value in values.items():
                self.set(name, value)
        except NotAllowed:
            self.restore(before)
            self.refused.append(who)


def make():
    return Machine()


def operator(machine):
    machine.change("operator", speed=60, fans=2)


def night_shift(machine):
    machine.change("night shift", heat=120, pressure=15)


def engineer(machine):
    machine.change("engineer", pressure=4)


WORKERS = (operator, night_shift, engineer)


def holds(machine):
    return machine.values == {"speed": 60, "heat": 20, "pressure": 4, "fans": 2}


def tell(machine):
    return f"values {machine.values}"


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
