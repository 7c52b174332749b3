"""A client that connects anew when its connection is dead, and closes the old one."""

import threading


class Connection:
    def __init__(self, number, alive=True):
        self.number = number
        self.alive = alive

    def ask(self, text):
        if not self.alive:
            raise ConnectionError(f"connection {self.number} is closed")
        return f"{text} by {self.number}"


class Client:
    def __init__(self):
        self.lock = threading.Lock()
        self.connection = Connection(1, alive=False)
        self.answers = []

    def reconnect(self):
        with self.lock:
            old = self.connection
            self.connection = Connection(old.number + 1)
            old.alive = False

    def ask(self, text):
        connection = self.connection
        if not connection.alive:
            self.reconnect()
            connection = self.connection
        answer = connection.ask(text)
        self.answers.append(answer)


def make():
    return Client()


def ask_for(text):
    def run(client):
        client.ask(text)

    return run


WORKERS = (ask_for("time"), ask_for("weather"))


def holds(client):
    return len(client.answers) == 2


def tell(client):
    return f"answers {client.answers}"


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
