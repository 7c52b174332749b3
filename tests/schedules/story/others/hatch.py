"""The kitchen puts one plate at a time into a hatch; two waiters take them."""

import threading


class Hatch:
    def __init__(self):
        self.plate = None
        self.full = threading.Event()
        self.free = threading.Semaphore()

    def put(self, plate):
        self.free.acquire()
        self.plate = plate
        self.full.set()

    def take(self):
        self.full.wait()
        self.full.clear()
        plate, self.plate = self.plate, None
        self.free.release()
        return plate


def serve(hatch, served):
    served.append(hatch.take())


def main():
    hatch, served = Hatch(), []
    waiters = [threading.Thread(target=serve, args=(hatch, served)) for _ in range(2)]
    for waiter in waiters:
        waiter.start()
    for plate in ("soup", "fish"):
        hatch.put(plate)
    for waiter in waiters:
        waiter.join()
    assert None not in served, served


main()
