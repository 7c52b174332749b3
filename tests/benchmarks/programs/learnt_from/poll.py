"""A result asked for again and again until it is there, from a task that says so a little early."""

import threading
import time


class Task:
    def __init__(self):
        self.done = False
        self.parts = []
        self.result = None

    def run(self):
        for number in range(5):
            self.parts.append(number * number)
        self.done = True
        self.result = sum(self.parts)


class Desk:
    def __init__(self):
        self.task = Task()
        self.answers = []

    def wait_for_result(self):
        while not self.task.done:
            time.sleep(0.001)
        return self.task.result


def make():
    return Desk()


def work(desk):
    desk.task.run()


def ask(desk):
    for _ in range(2):
        desk.answers.append(desk.wait_for_result())


WORKERS = (ask, work, ask)


def holds(desk):
    return desk.answers == [30] * 4


def tell(desk):
    return f"answers {desk.answers}"


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
