"""A web site serves each request in the context in which it was set up."""

import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

user = contextvars.ContextVar("user", default="nobody")
language = contextvars.ContextVar("language", default="en")


class Site:
    def __init__(self, default_language):
        language.set(default_language)
        self.context = contextvars.copy_context()
        self.lock = threading.Lock()
        self.log = []

    def handle(self, name, path):
        self.context.run(self.serve, name, path)

    def serve(self, name, path):
        user.set(name)
        text = self.render(path)
        with self.lock:
            self.log.append(text)

    def render(self, path):
        return f"{language.get()}{path} for {user.get()}"


def make():
    return Site("de")


def visitor(name, *paths):
    def run(site):
        for path in paths:
            site.handle(name, path)

    return run


WORKERS = (visitor("anna", "/", "/cart"), visitor("bert", "/help"), visitor("cleo", "/"))


def holds(site):
    return sorted(site.log) == ["de/ for anna", "de/ for cleo", "de/cart for anna", "de/help for bert"]


def tell(site):
    return f"log {site.log}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
