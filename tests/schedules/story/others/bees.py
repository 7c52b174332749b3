"""A hive sends its bees out by a pool of threads until the evening; who is just being sent out is refused."""

from concurrent.futures import ThreadPoolExecutor


class Hive:
    def __init__(self):
        self.paths = ThreadPoolExecutor(2)
        self.day = True
        self.lost = 0

    def fly(self, far):
        if far and self.day:
            self.send(far - 1)

    def send(self, far):
        try:
            self.paths.submit(self.fly, far)
        except RuntimeError:
            self.lost += 1

    def evening(self):
        self.day = False
        self.paths.shutdown()


hive = Hive()
hive.paths.submit(hive.fly, 3)
hive.evening()
assert not hive.lost, f"{hive.lost} bees did not come home"
