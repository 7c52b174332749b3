"""A session that its client, a timer for idle ones and the shutdown of the server may all close."""

import threading


class Transport:
    def __init__(self):
        self.open = True
        self.sent = []
        self.closings = 0

    def send(self, text):
        self.sent.append(text)

    def close(self):
        self.closings += 1
        if not self.open:
            raise OSError("the transport is closed already")
        self.open = False


class Session:
    def __init__(self):
        self.transport = Transport()
        self.lock = threading.Lock()
        self.state = "open"

    def request(self, text):
        with self.lock:
            if self.state == "open":
                self.transport.send(text)

    def close(self, reason):
        if self.state == "closed":
            return
        with self.lock:
            self.transport.send(f"bye: {reason}")
            self.state = "closed"
        self.transport.close()


def make():
    return Session()


def client(session):
    for text in ("hello", "list", "get"):
        session.request(text)
    session.close("done")


def shutdown(session):
    session.close("shutdown")


def idle(session):
    session.close("idle")


WORKERS = (client, shutdown, idle)


def holds(session):
    return session.transport.closings == 1


def tell(session):
    return f"sent {session.transport.sent}, closed {session.transport.closings} times"


def main():
    shared = make()
    timer = threading.Timer(0.01, idle, args=(shared,))
    timer.start()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in (client, shutdown)]
    for thread in threads:
        thread.start()
    for thread in [timer, *threads]:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
