"""Releases of a program in a store of objects: the parts of each, and a manifest that names them."""

import threading


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}

    def put(self, key, content):
        with self.lock:
            self.objects[key] = content

    def get(self, key):
        with self.lock:
            return self.objects[key]

    def keys(self, start):
        with self.lock:
            return [key for key in self.objects if key.startswith(start)]


class Releases:
    def __init__(self):
        self.store = Store()
        self.lock = threading.Lock()
        self.installed = []
        self.looked = 0

    def publish(self, version, parts):
        keys = [f"parts/{version}/{name}" for name in parts]
        self.store.put(f"manifests/{version}", keys)
        for key, content in zip(keys, parts.values(), strict=True):
            self.store.put(key, content)

    def newest(self):
        return max(self.store.keys("manifests/"), default=None)

    def install(self):
        manifest = self.newest()
        if manifest is not None:
            parts = [self.store.get(key) for key in self.store.get(manifest)]
            with self.lock:
                self.installed.append((manifest, "".join(parts)))
        with self.lock:
            self.looked += 1


def make():
    releases = Releases()
    releases.publish("1.0", {"code": "old", "help": "?"})
    return releases


def publisher(releases):
    releases.publish("1.1", {"code": "new", "help": "!", "icons": "*"})


def machine(releases):
    releases.install()


WORKERS = (machine, publisher, machine)


def holds(releases):
    return releases.looked == 2


def tell(releases):
    return f"installed {releases.installed}, looked {releases.looked}"


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
