"""A mailer that is not to run twice at once: who finds it running goes away again."""

import threading


class Mailer:
    def __init__(self):
        self.lock = threading.Lock()
        self.running = False
        self.outbox = ["invoice", "reminder"]
        self.mailed = []

    def start(self):
        with self.lock:
            if self.running:
                return False
            self.running = True
            return True

    def run(self):
        try:
            if not self.start():
                return
            for letter in list(self.outbox):
                self.mailed.append(letter)
            self.outbox.clear()
        finally:
            self.running = False


def make():
    return Mailer()


def run(mailer):
    mailer.run()


WORKERS = (run, run, run)


def holds(mailer):
    return mailer.mailed == ["invoice", "reminder"]


def tell(mailer):
    return f"mailed {mailer.mailed}"


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
