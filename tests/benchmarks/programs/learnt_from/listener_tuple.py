"""Those who listen to a radio station are kept in a tuple that is replaced when one comes or goes."""

import threading


class Station:
    def __init__(self):
        self.lock = threading.Lock()
        self.listeners = ()
        self.said = []

    def tune_in(self, name):
        with self.lock:
            self.listeners = (*self.listeners, name)

    def tune_out(self, name):
        others = tuple(other for other in self.listeners if other != name)
        with self.lock:
            self.listeners = others

    def say(self, text):
        for name in self.listeners:
            self.said.append((name, text))


def make():
    return Station()


def guest(name):
    def run(station):
        station.tune_in(name)
        station.say(f"welcome {name}")
        station.tune_out(name)

    return run


def regular(name):
    def run(station):
        station.tune_in(name)

    return run


WORKERS = (guest("ada"), regular("ben"), guest("cem"), regular("dora"))


def holds(station):
    return sorted(station.listeners) == ["ben", "dora"]


def tell(station):
    return f"listeners {station.listeners}"


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
