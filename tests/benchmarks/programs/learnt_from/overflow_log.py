"""The last three messages of a server, for a page that tells how it is."""

import queue
import threading


class Recent:
    """Keeps the newest messages; who writes one never waits."""

    def __init__(self, size):
        self.messages = queue.Queue(maxsize=size)

    def add(self, message):
        if self.messages.full():
            self.messages.get_nowait()
        self.messages.put_nowait(message)


class Server:
    def __init__(self):
        self.recent = Recent(3)
        self.recent.add("server: started")
        self.lock = threading.Lock()
        self.handled = 0

    def handle(self, source, request):
        self.recent.add(f"{source}: {request}")
        with self.lock:
            self.handled += 1


def make():
    return Server()


def client(name, *requests):
    def run(server):
        for request in requests:
            server.handle(name, request)

    return run


WORKERS = (client("ada", "login", "list"), client("ben", "login"), client("eva", "login", "logout"))


def holds(server):
    return server.handled == 5 and server.recent.messages.qsize() == 3


def tell(server):
    return f"handled {server.handled}, recent {list(server.recent.messages.queue)}"


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
