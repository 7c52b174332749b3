"""A list kept sorted by inserting at the place that bisect finds."""

import bisect
import threading


class Ranking:
    def __init__(self):
        self.points = [10, 50, 90]
        self.inserting = threading.Lock()

    def add(self, points):
        place = bisect.bisect(self.points, points)
        with self.inserting:
            self.points.insert(place, points)

    def drop_worst(self):
        with self.inserting:
            del self.points[0]


def make():
    return Ranking()


def enter(*all_points):
    def run(ranking):
        for points in all_points:
            ranking.add(points)

    return run


def clean(ranking):
    ranking.drop_worst()


WORKERS = (enter(40, 60), clean, enter(95, 70))


def holds(ranking):
    return ranking.points == sorted(ranking.points)


def tell(ranking):
    return f"points {ranking.points}"


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
