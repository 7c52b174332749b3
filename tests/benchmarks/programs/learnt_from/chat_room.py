"""A chat room whose members are told of a message while one of them joins."""

import threading


class Member:
    def __init__(self, name):
        self.name = name
        self.inbox = []

    def tell(self, text):
        if len(self.inbox) < 10:
            self.inbox.append(text)


class Room:
    def __init__(self):
        self.members = set()
        self.lock = threading.Lock()

    def join(self, member):
        with self.lock:
            self.members.add(member)

    def say(self, text):
        for member in self.members:
            member.tell(text)


def make():
    room = Room()
    for name in ("ann", "bob"):
        room.join(Member(name))
    return room


def talk(room):
    for text in ("hello", "anyone here?"):
        room.say(text)


def join(room):
    room.join(Member("cid"))


WORKERS = (talk, join)


def holds(room):
    return len(room.members) == 3


def tell(room):
    return f"{len(room.members)} members"


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
