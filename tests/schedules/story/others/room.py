"""Two guests get one number in a room: when both have left, the second one is missed there."""

import threading


class Room:
    def __init__(self):
        self.members = {}
        self.next = 0

    def enter(self, name):
        number = self.next
        self.members[number] = name
        self.next = number + 1
        return number

    def leave(self, number):
        del self.members[number]


room = Room()
greetings = []


def visit(name):
    number = room.enter(name)
    greetings.append(f"{len(room.members)} here")
    room.leave(number)


def main():
    threads = [threading.Thread(target=visit, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not room.members


main()
