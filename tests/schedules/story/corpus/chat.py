"""A chat room: messages go to all members; members come and go."""

import threading


class Member:
    def __init__(self, name):
        self.name = name
        self.inbox = []

    def deliver(self, text):
        self.inbox.append(text)


class Room:
    def __init__(self):
        self._members = set()
        self._lock = threading.Lock()

    def join(self, member):
        with self._lock:
            self._members.add(member)
        member.deliver("welcome")

    def leave(self, member):
        with self._lock:
            self._members.discard(member)

    def say(self, sender, text):
        for member in self._members:
            if member is not sender:
                member.deliver(f"{sender.name}: {text}")


def main():
    room = Room()
    ada, bob, eve = Member("ada"), Member("bob"), Member("eve")
    room.join(ada)
    room.join(bob)
    threads = [
        threading.Thread(target=room.say, args=(ada, "hello")),
        threading.Thread(target=room.join, args=(eve,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bob.inbox[-1] == "ada: hello"


if __name__ == "__main__":
    main()
