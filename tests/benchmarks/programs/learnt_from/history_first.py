"""A newcomer who reads what was said so far and then listens."""

import threading


class Room:
    def __init__(self):
        self.history = []
        self.listeners = []

    def say(self, text):
        self.history.append(text)
        for listener in list(self.listeners):
            listener.append(text)

    def enter(self):
        heard = list(self.history)
        self.listeners.append(heard)


def make():
    return Room()


def talk(room):
    for text in ("hello", "anyone?", "bye"):
        room.say(text)


def enter(room):
    room.enter()


WORKERS = (talk, enter)


def holds(room):
    return all(heard == room.history for heard in room.listeners)


def tell(room):
    return f"heard {room.listeners}"


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
