"""A playlist that several guests of a party change from their phones."""

import threading


class Playlist:
    def __init__(self, *titles):
        self.lock = threading.Lock()
        self.titles = list(titles)
        self.removed = []

    def position(self, title):
        with self.lock:
            for position, found in enumerate(self.titles):
                if found == title:
                    return position
        return None

    def add_next(self, title):
        with self.lock:
            self.titles.insert(0, title)

    def drop(self, position):
        with self.lock:
            self.removed.append(self.titles.pop(position))

    def remove(self, title):
        position = self.position(title)
        if position is not None:
            self.drop(position)


class Party:
    def __init__(self):
        self.playlist = Playlist("waltz", "tango", "polka", "swing")


def make():
    return Party()


def guest_without_tango(party):
    party.playlist.remove("tango")


def guest_with_wishes(party):
    party.playlist.add_next("samba")
    party.playlist.add_next("rumba")


def guest_without_swing(party):
    party.playlist.remove("swing")


WORKERS = (guest_without_tango, guest_with_wishes, guest_without_swing)


def holds(party):
    playlist = party.playlist
    return sorted(playlist.titles) == ["polka", "rumba", "samba", "waltz"] and len(playlist.removed) == 2


def tell(party):
    return f"titles {party.playlist.titles}, removed {party.playlist.removed}"


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
