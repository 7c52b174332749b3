"""A client closes its connection while another thread sends through it."""

import threading


class Wire:
    def __init__(self):
        self.sent = []

    def write(self, data):
        self.sent.append(data)


class Client:
    def __init__(self):
        self._wire = Wire()
        self._closed = False
        self._lock = threading.Lock()

    def send(self, data):
        if self._wire is None:
            return False
        frame = self._frame(data)
        self._wire.write(frame)
        return True

    def _frame(self, data):
        return len(data).to_bytes(2, "big") + data

    def close(self):
        with self._lock:
            self._wire = None
            self._closed = True


def main():
    client = Client()
    sender = threading.Thread(target=client.send, args=(b"hello",))
    closer = threading.Thread(target=client.close)
    sender.start()
    closer.start()
    sender.join()
    closer.join()


main()
