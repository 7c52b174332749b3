"""Two threads take two locks, each in its own order: some schedules never end."""

import threading

one, other = threading.Lock(), threading.Lock()


def take(first: threading.Lock, second: threading.Lock) -> None:
    for _ in range(3):
        with first, second:
            pass


threads = [threading.Thread(target=take, args=locks) for locks in ((one, other), (other, one))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
