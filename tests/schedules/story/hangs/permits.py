"""Downloads share two permits; one that fails never gives its permit back."""

import threading


class Downloads:
    def __init__(self, permits):
        self._permits = threading.BoundedSemaphore(permits)
        self.sizes = {}
        self.known = {"a": 3, "b": 5}

    def fetch(self, name):
        self._permits.acquire()
        size = self._size(name)
        self.sizes[name] = size
        self._permits.release()

    def _size(self, name):
        return self.known[name]

    def forget(self, name):
        self.known.pop(name, None)


def run(downloads, names):
    for name in names:
        try:
            downloads.fetch(name)
        except KeyError:
            print("no such file:", name)


def main():
    downloads = Downloads(1)
    threads = [
        threading.Thread(target=run, args=(downloads, ["a", "b"])),
        threading.Thread(target=run, args=(downloads, ["b", "a"])),
        threading.Thread(target=downloads.forget, args=("b",)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sorted(downloads.sizes))


main()
