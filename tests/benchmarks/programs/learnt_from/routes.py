"""Routes of a web server, copied whenever one is added so that readers need no lock."""

import threading


class Router:
    def __init__(self):
        self.routes = {"/": "index"}
        self.swap = threading.Lock()

    def add(self, path, view):
        routes = dict(self.routes)
        routes[path] = view
        with self.swap:
            self.routes = routes

    def find(self, path):
        return self.routes.get(path, "missing")


def make():
    return Router()


def shop(router):
    for path in ("/cart", "/pay"):
        router.add(path, "shop")


def blog(router):
    for path in ("/feed", "/post"):
        router.add(path, "blog")


def visit(router):
    for path in ("/", "/cart", "/feed"):
        router.find(path)


WORKERS = (shop, visit, blog)


def holds(router):
    return len(router.routes) == 5


def tell(router):
    return f"routes {sorted(router.routes)}"


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
