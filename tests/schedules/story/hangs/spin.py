"""Waits in a loop for a flag that an early stop resets."""

import threading


class Machine:
    def __init__(self):
        self.ready = False
        self.stopped = False

    def warm_up(self):
        self.ready = True

    def stop(self):
        self.stopped = True
        self.ready = False

    def work(self):
        while not self.ready:
            pass
        return "worked"


def main():
    machine = Machine()
    warmer = threading.Thread(target=machine.warm_up, name="warmer")
    stopper = threading.Thread(target=machine.stop, name="stopper")
    worker = threading.Thread(target=machine.work, name="worker")
    for thread in (warmer, worker, stopper):
        thread.start()
    worker.join()
    print("done")


main()
