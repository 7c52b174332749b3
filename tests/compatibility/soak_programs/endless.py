"""Never ends: it has to be killed at the time limit."""

import threading

running = True


def spin() -> None:
    while running:
        pass


for _ in range(2):
    threading.Thread(target=spin).start()
