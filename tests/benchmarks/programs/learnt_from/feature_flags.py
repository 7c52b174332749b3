"""Switches of a web service: read very often, changed seldom, so that readers take no lock."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Flags:
    def __init__(self, **flags):
        self.flags = flags
        self.lock = threading.Lock()
        self.history = []

    def enabled(self, name):
        return self.flags.get(name, False)

    def record(self, text):
        with self.lock:
            self.history.append(text)

    def switch(self, name, value):
        """Readers see either the old flags or the new ones, never some of both."""
        flags = dict(self.flags)
        flags[name] = value
        self.record(f"{name}={value}")
        self.flags = flags


class Service:
    def __init__(self):
        self.flags = Flags(search=False, dark=False, beta=True)
        self.lock = threading.Lock()
        self.pages = []

    def page(self, user):
        look = "dark" if self.flags.enabled("dark") else "light"
        with self.lock:
            self.pages.append((user, look))


def make():
    return Service()


def release_manager(service):
    service.flags.switch("search", True)


def designer(service):
    service.page("designer")
    service.flags.switch("dark", True)
    service.page("designer")


def support(service):
    service.flags.switch("beta", False)
    service.page("support")


WORKERS = (release_manager, designer, support)

EXPECTED = {"search": True, "dark": True, "beta": False}


def holds(service):
    return service.flags.flags == EXPECTED


def tell(service):
    return f"flags {service.flags.flags} after {service.flags.history}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
