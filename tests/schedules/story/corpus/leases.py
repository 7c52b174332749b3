"""Meeting rooms are leased; a lease ends when its holder returns it or when it expires."""

import threading


class Office:
    def __init__(self, rooms):
        self.free = set(rooms)
        self.leased = {}

    def lease(self, who):
        room = self.free.pop()
        self.leased[room] = who
        return room

    def end(self, room):
        if room in self.leased:
            self._tell(room)
            del self.leased[room]
            self.free.add(room)

    def _tell(self, room):
        return f"{self.leased[room]} leaves {room}"


class Reaper:
    def __init__(self, office):
        self.office = office
        self.ended = 0

    def sweep(self):
        for room in list(self.office.leased):
            self.office.end(room)
            self.ended += 1


def main():
    office = Office(["north", "south"])
    room = office.lease("ada")
    reaper = Reaper(office)
    threads = [threading.Thread(target=office.end, args=(room,)), threading.Thread(target=reaper.sweep)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert office.free == {"north", "south"}, office.free


if __name__ == "__main__":
    main()
