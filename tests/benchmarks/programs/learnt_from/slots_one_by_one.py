"""Videos encoded in three slots, of which each needs two."""

import threading


class Encoder:
    def __init__(self):
        self.slots = threading.Semaphore(3)
        self.lock = threading.Lock()
        self.encoded = []

    def encode(self, name, needed):
        for _ in range(needed):
            self.slots.acquire()
        with self.lock:
            self.encoded.append(name)
        for _ in range(needed):
            self.slots.release()


def make():
    return Encoder()


def film(name):
    def run(encoder):
        encoder.encode(f"{name} trailer", 1)
        encoder.encode(name, 2)

    return run


def songs(encoder):
    for number in range(3):
        encoder.encode(f"song {number}", 1)


WORKERS = (film("comedy"), film("western"), film("drama"), songs)


def holds(encoder):
    return len(encoder.encoded) == 9


def tell(encoder):
    return f"encoded {encoder.encoded}"


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
