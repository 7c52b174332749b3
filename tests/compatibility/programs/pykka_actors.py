"""Actors, each in a thread of its own, ask and tell each other."""

import pykka


class Counter(pykka.ThreadingActor):
    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def add(self, number: int) -> int:
        self.total += number
        return self.total


class Worker(pykka.ThreadingActor):
    def __init__(self, counter: "pykka.ActorProxy[Counter]") -> None:
        super().__init__()
        self.counter = counter

    def work(self, number: int) -> int:
        self.counter.add(number).get(timeout=60)
        return number


counter = Counter.start().proxy()
workers = [Worker.start(counter).proxy() for _ in range(3)]
answers = pykka.get_all([worker.work(number) for number in (1, 2, 3) for worker in workers], timeout=60)
assert sorted(answers) == [1, 1, 1, 2, 2, 2, 3, 3, 3]
assert counter.total.get(timeout=60) == 18
pykka.ActorRegistry.stop_all()
