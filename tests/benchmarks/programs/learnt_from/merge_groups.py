"""Groups of people that merge: the smaller moves into the larger, and the larger is locked first."""

import threading


class Group:
    def __init__(self, *members):
        self.lock = threading.Lock()
        self.members = list(members)

    def join(self, name):
        with self.lock:
            self.members.append(name)

    def __len__(self):
        return len(self.members)


def merge(one, other):
    larger, smaller = (one, other) if len(one) >= len(other) else (other, one)
    with larger.lock:
        with smaller.lock:
            larger.members += smaller.members
            smaller.members.clear()


class Club:
    def __init__(self):
        self.chess = Group("Ann", "Bob", "Cyd")
        self.bridge = Group("Dee", "Eli")
        self.log = []


def make():
    return Club()


def organiser(club):
    merge(club.chess, club.bridge)
    club.log.append("organiser merged")


def secretary(club):
    club.log.append("secretary reads the minutes")
    merge(club.bridge, club.chess)
    club.log.append("secretary merged")


def door(club):
    for name in ("Flo", "Gus"):
        club.bridge.join(name)
    club.log.append("door shut")


WORKERS = (organiser, door, secretary)


def holds(club):
    return sorted(club.chess.members + club.bridge.members) == ["Ann", "Bob", "Cyd", "Dee", "Eli", "Flo", "Gus"]


def tell(club):
    return f"chess {club.chess.members}, bridge {club.bridge.members}"


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
