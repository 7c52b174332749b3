"""A starter who opens the gate and closes it at once, for runners who may not stand there yet."""

import threading


class Race:
    def __init__(self):
        self.gate = threading.Event()
        self.started = False
        self.gone = []


def make():
    return Race()


def runner(race):
    shoes = []
    for side in ("left", "right"):
        shoes.append(side)
    if not race.started:
        race.gate.wait()
    race.gone.append(shoes)


def starter(race):
    race.gate.set()
    race.gate.clear()
    race.started = True


WORKERS = (runner, starter)


def holds(race):
    return len(race.gone) == 1


def tell(race):
    return f"{len(race.gone)} runners gone"


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
