"""Values of a sensor come from a generator; a switch in another thread turns it off."""

import threading


class Sensor:
    def __init__(self, raw):
        self.lock = threading.Lock()
        self.raw = raw
        self.off = False
        self.stream = self.values()

    def scale(self, raw):
        return raw * 0.5

    def values(self):
        for raw in self.raw:
            yield self.scale(raw)

    def next_value(self):
        return next(self.stream, None)

    def turn_off(self):
        self.stream.close()
        self.off = True


class Plant:
    def __init__(self):
        self.sensor = Sensor([2, 4, 6, 8])
        self.seen = []


def make():
    return Plant()


def display(plant):
    while (value := plant.sensor.next_value()) is not None:
        plant.seen.append(value)


def switch(plant):
    plant.sensor.turn_off()


WORKERS = (display, switch)


def holds(plant):
    return plant.sensor.off and plant.seen == [1.0, 2.0, 3.0, 4.0][: len(plant.seen)]


def tell(plant):
    return f"off {plant.sensor.off}, seen {plant.seen}"


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
