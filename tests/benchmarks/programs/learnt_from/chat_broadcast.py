"""A chat room that hands each message to everyone who is in it."""

import threading


class Member:
    def __init__(self, name):
        self.name = name
        self.received = []

    def deliver(self, text):
        self.received.append(text)


class Room:
    def __init__(self, *names):
        self.lock = threading.Lock()
        self.everyone = {name: Member(name) for name in names}
        self.present = list(self.everyone.values())

    def leave(self, name):
        with self.lock:
            self.present.remove(self.everyone[name])

    def say(self, text):
        for member in self.present:
            member.deliver(text)


def make():
    return Room("ines", "olaf", "greta", "sven", "rita")


def speaker(*texts):
    def run(room):
        for text in texts:
            room.say(text)

    return run


def guest(name):
    def run(room):
        room.leave(name)

    return run


WORKERS = (speaker("hello", "dinner is ready"), guest("ines"), guest("sven"))


def holds(room):
    return all(room.everyone[name].received == ["hello", "dinner is ready"] for name in ("olaf", "greta", "rita"))


def tell(room):
    return str({name: member.received for name, member in room.everyone.items()})


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
