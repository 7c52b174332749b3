"""Three workers each need two of three machines, taken from a table by number."""

import threading


class Machine:
    def __init__(self, name):
        self.name = name
        self.busy = threading.Lock()
        self.made = 0


class Workshop:
    def __init__(self):
        self.machines = {name: Machine(name) for name in ("saw", "drill", "lathe")}

    def make(self, first, second):
        one, other = self.machines[first], self.machines[second]
        one.busy.acquire()
        try:
            other.busy.acquire()
            try:
                one.made += 1
                other.made += 1
            finally:
                other.busy.release()
        finally:
            one.busy.release()


workshop = Workshop()


def worker(first, second):
    workshop.make(first, second)


if __name__ == "__main__":
    workers = [
        threading.Thread(target=worker, args=pair) for pair in (("saw", "drill"), ("drill", "lathe"), ("lathe", "saw"))
    ]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    print("made", [machine.made for machine in workshop.machines.values()])
