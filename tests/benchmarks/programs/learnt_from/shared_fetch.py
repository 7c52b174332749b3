"""A client of a weather service: of those who ask for a town at the same time one fetches, the others wait for it."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Service:
    """Refuses the first call for some towns."""

    def __init__(self):
        self.refusing = {"Oslo"}

    def fetch(self, town):
        if town in self.refusing:
            self.refusing.discard(town)
            raise ConnectionError(town)
        return f"{town}: {len(town) + 10} degrees"


class Weather:
    def __init__(self):
        self.service = Service()
        self.lock = threading.Lock()
        self.known = {}
        self.under_way = {}
        self.shown = []

    def get(self, town):
        with self.lock:
            if town in self.known:
                return self.known[town]
            done = self.under_way.get(town)
            first = done is None
            if first:
                done = self.under_way[town] = threading.Event()
        if not first:
            done.wait()
            return self.known[town]
        try:
            self.known[town] = self.service.fetch(town)
            return self.known[town]
        finally:
            with self.lock:
                del self.under_way[town]
            done.set()


def make():
    return Weather()


def page(*towns):
    def run(weather):
        for town in towns:
            for _ in range(3):
                try:
                    weather.shown.append(weather.get(town))
                    break
                except ConnectionError:
                    continue

    return run


WORKERS = (page("Rome", "Oslo"), page("Oslo"), page("Bern", "Oslo", "Rome"))


def holds(weather):
    return len(weather.shown) == 6


def tell(weather):
    return f"shown {weather.shown}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
