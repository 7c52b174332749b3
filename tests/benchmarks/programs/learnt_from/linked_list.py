"""A playlist of linked songs, from which two listeners remove songs."""

import threading


class Song:
    def __init__(self, name, after=None):
        self.name = name
        self.after = after


class Playlist:
    def __init__(self, names):
        self.head = Song("")
        last = self.head
        for name in names:
            last.after = Song(name)
            last = last.after

    def names(self):
        found = []
        song = self.head.after
        while song is not None:
            found.append(song.name)
            song = song.after
        return found

    def remove(self, name):
        before = self.head
        while before.after is not None and before.after.name != name:
            before = before.after
        gone = before.after
        if gone is not None:
            rest = gone.after
            before.after = rest


def make():
    return Playlist(["arise", "breathe", "creep", "dreams", "echoes"])


def remove(name):
    def run(playlist):
        wanted = "".join(letter.lower() for letter in name)
        playlist.remove(wanted)

    return run


WORKERS = (remove("BREATHE"), remove("CREEP"))


def holds(playlist):
    return playlist.names() == ["arise", "dreams", "echoes"]


def tell(playlist):
    return f"left {playlist.names()}"


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
