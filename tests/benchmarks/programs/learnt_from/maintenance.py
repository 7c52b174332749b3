"""A reader that looks before and after whether the data were being moved."""

import threading


class Store:
    def __init__(self):
        self.moving = False
        self.left = ["a", "b", "c"]
        self.right = ["d"]
        self.lock = threading.Lock()

    def move(self):
        self.moving = True
        with self.lock:
            item = self.left.pop()
        with self.lock:
            self.right.insert(0, item)
        self.moving = False

    def all_items(self):
        for _ in range(3):
            if self.moving:
                continue
            items = list(self.left)
            items += list(self.right)
            if not self.moving:
                return items
        return None


class Shop:
    def __init__(self):
        self.store = Store()
        self.seen = None


def make():
    return Shop()


def read(shop):
    shop.seen = shop.store.all_items()


def move(shop):
    shop.store.move()


WORKERS = (read, move)


def holds(shop):
    return shop.seen is None or shop.seen == ["a", "b", "c", "d"]


def tell(shop):
    return f"seen {shop.seen}"


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
