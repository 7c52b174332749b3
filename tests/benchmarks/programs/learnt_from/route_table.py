"""Routes of a web server: each change makes a new table, so that readers need no lock."""

import threading


class Routes:
    def __init__(self):
        self.lock = threading.Lock()
        self.table = {"/": "home"}
        self.removed = 0
        self.served = []

    def add(self, path, page):
        with self.lock:
            table = dict(self.table)
            table[path] = page
            self.table = table

    def remove(self, path):
        with self.lock:
            table = dict(self.table)
            table[path] = None
            self.table = table
            self.removed += 1
        if self.removed == 3:
            self.compact()

    def compact(self):
        table = {}
        for path, page in self.table.items():
            if page is not None:
                table[path] = page
        self.table = table
        self.removed = 0

    def serve(self, path):
        self.served.append(self.table.get(path))


def make():
    return Routes()


def add_blog(routes):
    for number in range(4):
        routes.add(f"/blog/{number}", "post")


def remove_old(routes):
    for path in ("/old", "/older", "/oldest"):
        routes.remove(path)


def add_shop(routes):
    for item in ("pen", "lamp", "desk"):
        routes.add(f"/shop/{item}", "item")


def visit(routes):
    for path in ("/", "/old", "/blog/0"):
        routes.serve(path)


WORKERS = (add_blog, remove_old, add_shop, visit)


def holds(routes):
    return len([page for page in routes.table.values() if page]) == 8


def tell(routes):
    return f"table {routes.table}"


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
