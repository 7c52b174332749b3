"""A timetable behind a lock for many readers or one writer; the first reader in keeps the writer out."""

import threading
from contextlib import contextmanager


class ReadWriteLock:
    def __init__(self):
        self.mutex = threading.Lock()
        self.room = threading.Lock()
        self.readers = 0

    @contextmanager
    def reading(self):
        with self.mutex:
            self.readers += 1
            first = self.readers == 1
        if first:
            self.room.acquire()
        try:
            yield
        finally:
            with self.mutex:
                self.readers -= 1
                if self.readers == 0:
                    self.room.release()

    @contextmanager
    def writing(self):
        with self.room:
            yield


class Timetable:
    def __init__(self):
        self.lock = ReadWriteLock()
        self.season = "summer"
        self.trains = {"Leeds": "summer 08:10", "York": "summer 09:25"}
        self.wrong = []

    def change(self, season, **trains):
        with self.lock.writing():
            self.season = season
            for town, time in trains.items():
                self.trains[town] = f"{season} {time}"

    def look_up(self, town):
        with self.lock.reading():
            season = self.season
            train = self.trains[town]
        if not train.startswith(season):
            self.wrong.append((season, train))


def make():
    return Timetable()


def passenger(*towns):
    def run(timetable):
        for town in towns:
            timetable.look_up(town)

    return run


def editor(timetable):
    timetable.change("winter", Leeds="08:40", York="09:05")


WORKERS = (passenger("York", "Leeds"), editor, passenger("York"), passenger("Leeds"))


def holds(timetable):
    return not timetable.wrong


def tell(timetable):
    return f"wrong {timetable.wrong}"


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
