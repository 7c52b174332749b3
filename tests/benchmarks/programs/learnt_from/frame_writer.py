"""Messages over one connection: each is a header that tells kind and length, and a body."""

import socket
import struct
import threading

HEADER = struct.Struct("!BH")


def connected():
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        far, _ = server.accept()
    return near, far


class Writer:
    def __init__(self, connection):
        self.stream = connection.makefile("wb")

    def send(self, kind, text):
        body = text.encode()
        self.stream.write(HEADER.pack(kind, len(body)))
        self.stream.write(body)

    def close(self):
        self.stream.close()


class Reader:
    def __init__(self, connection):
        self.connection = connection

    def messages(self):
        data = b""
        while part := self.connection.recv(4096):
            data += part
        found = []
        while len(data) >= HEADER.size:
            kind, length = HEADER.unpack_from(data)
            body = data[HEADER.size : HEADER.size + length]
            found.append((kind, body.decode("latin-1")))
            data = data[HEADER.size + length :]
        return found


class Link:
    def __init__(self):
        self.near, self.far = connected()
        self.writer = Writer(self.near)
        self.received = None

    def finish(self):
        if self.received is None:
            self.writer.close()
            self.near.close()
            self.received = Reader(self.far).messages()
            self.far.close()
        return self.received


def make():
    return Link()


def sender(kind, *texts):
    def run(link):
        for text in texts:
            link.writer.send(kind, text)

    return run


WORKERS = (sender(1, "engine on", "engine off"), sender(2, "door open"), sender(3, "lights", "radio"))

EXPECTED = [(1, "engine off"), (1, "engine on"), (2, "door open"), (3, "lights"), (3, "radio")]


def holds(link):
    return sorted(link.finish()) == EXPECTED


def tell(link):
    return f"received {link.finish()}"


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
