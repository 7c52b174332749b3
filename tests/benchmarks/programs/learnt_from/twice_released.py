"""A slot that a failed job gives back twice, so that two jobs are let in at once."""

import threading


class Printer:
    def __init__(self):
        self.slot = threading.Semaphore(1)
        self.guard = threading.Lock()
        self.inside = 0
        self.most = 0

    def enter(self):
        with self.guard:
            self.inside += 1
            self.most = max(self.most, self.inside)

    def leave(self):
        with self.guard:
            self.inside -= 1

    def print(self, pages):
        self.slot.acquire()
        self.enter()
        try:
            if not pages:
                raise ValueError("nothing to print")
            return sum(pages)
        except ValueError:
            self.slot.release()
            return 0
        finally:
            self.leave()
            self.slot.release()


def make():
    return Printer()


def empty_job(printer):
    printer.print([])


def job(printer):
    printer.print([1, 2, 3])


WORKERS = (job, empty_job, job)


def holds(printer):
    return printer.most == 1


def tell(printer):
    return f"{printer.most} jobs at once"


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
