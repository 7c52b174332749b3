"""An agenda runs its entries in the order of their times, in several threads."""

import heapq
import threading


class Agenda:
    def __init__(self):
        self._entries = []
        self._count = 0
        self._lock = threading.Lock()

    def add(self, when, action):
        with self._lock:
            self._count += 1
            heapq.heappush(self._entries, (when, self._count, action))

    def due(self, now):
        return bool(self._entries) and self._entries[0][0] <= now

    def run(self, now):
        while self.due(now):
            when, _, action = heapq.heappop(self._entries)
            action(when)


class Runner(threading.Thread):
    def __init__(self, agenda):
        super().__init__()
        self.agenda = agenda
        self.crashed = None

    def run(self):
        try:
            self.agenda.run(now=10)
        except IndexError as error:
            self.crashed = error


def main():
    agenda = Agenda()
    done = []
    agenda.add(3, done.append)
    agenda.add(1, done.append)
    runners = [Runner(agenda) for _ in range(3)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    crashes = [runner.crashed for runner in runners if runner.crashed]
    assert not crashes, crashes


if __name__ == "__main__":
    main()
