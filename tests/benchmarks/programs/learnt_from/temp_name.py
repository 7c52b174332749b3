"""Uploads written under a temporary name and given their own name when they are whole."""

import threading


class Disk:
    def __init__(self):
        self.files = {}
        self.uploads = 0

    def temporary(self):
        name = f"upload-{self.uploads}.part"
        self.files[name] = []
        return name

    def write(self, name, line):
        self.files[name].append(line)

    def rename(self, old, new):
        self.files[new] = self.files.pop(old)


def make():
    return Disk()


def upload(name, *lines):
    def run(disk):
        part = disk.temporary()
        disk.uploads += 1
        for line in lines:
            disk.write(part, line)
        disk.rename(part, name)

    return run


WORKERS = (upload("cats", "tom", "kitty"), upload("dogs", "rex", "lassie"))


def holds(disk):
    return disk.files == {"cats": ["tom", "kitty"], "dogs": ["rex", "lassie"]}


def tell(disk):
    return f"files {disk.files}"


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
