"""A fuse before a service that is down: after a while one call may try whether it is back."""

import threading


class Fuse:
    def __init__(self):
        self.state = "open"
        self.until = 10
        self.now = 12

    def allows(self):
        if self.state == "closed":
            return True
        if self.state == "open" and self.now >= self.until:
            self.state = "trying"
            return True
        return False

    def failed(self):
        self.until = self.now + 10
        self.state = "open"


class Service:
    def __init__(self):
        self.fuse = Fuse()
        self.tries = []
        self.refused = []

    def call(self, name):
        if self.fuse.allows():
            self.tries.append(name)
            self.fuse.failed()
        else:
            self.refused.append(name)


def make():
    return Service()


def caller(name):
    def run(service):
        service.call(name)

    return run


WORKERS = (caller("orders"), caller("mail"), caller("search"))


def holds(service):
    return len(service.tries) == 1


def tell(service):
    return f"tries {service.tries}"


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
