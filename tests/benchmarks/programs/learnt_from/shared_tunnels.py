"""Tunnels to hosts, shared by those who need one and closed when nobody does."""

import threading


class Tunnel:
    def __init__(self, host):
        self.host = host
        self.users = 0
        self.closed = False

    def send(self, text):
        if self.closed:
            raise ValueError(f"tunnel to {self.host} is closed")
        return f"{self.host}: {text}"


class Tunnels:
    def __init__(self):
        self.lock = threading.Lock()
        self.open = {}

    def get(self, host):
        with self.lock:
            tunnel = self.open.get(host)
            if tunnel is None:
                tunnel = self.open[host] = Tunnel(host)
            tunnel.users += 1
            return tunnel

    def release(self, tunnel):
        with self.lock:
            tunnel.users -= 1
            idle = tunnel.users == 0
        if idle:
            with self.lock:
                self.open.pop(tunnel.host, None)
            tunnel.closed = True


class Network:
    def __init__(self):
        self.tunnels = Tunnels()
        self.lock = threading.Lock()
        self.sent = []

    def send(self, host, text):
        tunnel = self.tunnels.get(host)
        line = tunnel.send(text)
        self.tunnels.release(tunnel)
        with self.lock:
            self.sent.append(line)


def make():
    return Network()


def client(*messages):
    def run(network):
        for host, text in messages:
            network.send(host, text)

    return run


WORKERS = (
    client(("oslo", "one")),
    client(("rome", "two")),
    client(("oslo", "three")),
    client(("rome", "four")),
    client(("oslo", "five")),
    client(("bern", "six")),
)


def holds(network):
    return len(network.sent) == 6


def tell(network):
    return f"sent {network.sent}"


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
