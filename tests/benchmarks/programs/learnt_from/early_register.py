"""Devices that attach themselves to a hub, which calls on all of them."""

import threading


class Hub:
    def __init__(self):
        self.lock = threading.Lock()
        self.devices = []
        self.answers = []
        self.rounds = 0

    def attach(self, device):
        with self.lock:
            self.devices.append(device)

    def call(self, event):
        with self.lock:
            devices = list(self.devices)
        for device in devices:
            self.answers.append(device.handle(event))
        self.rounds += 1


class Device:
    def __init__(self, hub, name):
        self.name = name
        self.events = 0
        hub.attach(self)
        self.handlers = {}
        self.handlers["ping"] = self.pong

    def handle(self, event):
        self.events += 1
        return self.handlers[event]()

    def pong(self):
        return f"{self.name} is here"


def make():
    hub = Hub()
    Device(hub, "clock")
    return hub


def plug_in(hub):
    for name in ("mouse", "keyboard"):
        Device(hub, name)


def poll(hub):
    hub.call("ping")


WORKERS = (plug_in, poll)


def holds(hub):
    return hub.rounds == 1 and len(hub.devices) == 3


def tell(hub):
    return f"rounds {hub.rounds}, answers {hub.answers}"


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
