"""Settings are saved by writing a new file beside the old one and renaming it."""

import json
import os
import threading


class Store:
    def __init__(self, path):
        self.path = path

    def save(self, values):
        temporary = self.path + ".tmp"
        with open(temporary, "w") as file:
            json.dump(values, file)
        os.rename(temporary, self.path)

    def load(self):
        with open(self.path) as file:
            return json.load(file)


def work(store, name):
    store.save({"last": name})


def main():
    store = Store("state.json")
    workers = [threading.Thread(target=work, args=(store, name)) for name in ("ada", "bob")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert store.load()["last"] in ("ada", "bob")


if __name__ == "__main__":
    main()
