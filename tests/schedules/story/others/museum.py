"""Visitors count themselves in and out; the first one locks the cleaners out, a little too late."""

import threading


class Hall:
    def __init__(self):
        self.visitors = 0
        self.cleaning = threading.Lock()
        self.floor = self.wall = "dusty"

    def enter(self):
        self.visitors += 1
        if self.visitors == 1:
            self.cleaning.acquire()

    def leave(self):
        self.visitors -= 1
        if self.visitors == 0:
            self.cleaning.release()

    def clean(self):
        with self.cleaning:
            self.floor = "clean"
            self.wall = "clean"


def visit(hall, seen):
    hall.enter()
    seen.append((hall.floor, hall.wall))
    hall.leave()


def main():
    hall, seen = Hall(), []
    threads = [threading.Thread(target=visit, args=(hall, seen)) for _ in range(2)]
    threads.append(threading.Thread(target=hall.clean))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for floor, wall in seen:
        assert floor == wall, f"the floor is {floor}, the wall is {wall}"


main()
