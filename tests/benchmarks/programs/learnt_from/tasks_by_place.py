"""A list of tasks whose place is looked up in one locked section and used in the next."""

import threading


class Tasks:
    def __init__(self, names):
        self.names = names
        self.lock = threading.Lock()
        self.archive = []

    def finish(self, name):
        with self.lock:
            if name not in self.names:
                return
            place = self.names.index(name)
        record = self.describe(name)
        with self.lock:
            del self.names[place]
            self.archive.append(record)

    def describe(self, name):
        return {"name": name, "length": len(name)}


def make():
    return Tasks(["wash", "cook", "read", "walk", "sleep"])


def ann(tasks):
    for name in ("read", "walk"):
        tasks.finish(name)


def bob(tasks):
    tasks.finish("wash")


WORKERS = (ann, bob)


def holds(tasks):
    return tasks.names == ["cook", "sleep"]


def tell(tasks):
    return f"left {tasks.names}"


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
