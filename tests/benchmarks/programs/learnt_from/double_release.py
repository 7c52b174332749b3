"""A slot that the job gives back when it ends and the canceller when it is cancelled."""

import threading


class Slots:
    def __init__(self, count):
        self.free = threading.BoundedSemaphore(count)
        self.errors = []


class Job:
    def __init__(self, slots):
        self.slots = slots
        self.state = "new"
        self.steps = 0

    def start(self):
        self.slots.free.acquire()
        self.state = "running"

    def run(self):
        for _ in range(3):
            if self.state != "running":
                return
            self.steps += 1
        self.finish("done")

    def finish(self, state):
        if self.state == "running":
            try:
                self.slots.free.release()
            except ValueError as error:
                self.slots.errors.append(error)
            self.state = state


class Board:
    def __init__(self):
        self.slots = Slots(1)
        self.job = Job(self.slots)


def make():
    return Board()


def run(board):
    board.job.start()
    board.job.run()


def cancel(board):
    board.job.finish("cancelled")


WORKERS = (run, cancel)


def holds(board):
    return not board.slots.errors


def tell(board):
    return f"{board.slots.errors[0]}"


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
