"""Addresses put together from settings that are loaded anew when their file has changed."""

import threading

OLD = {"host": "old.example", "port": "1000", "path": "/v1"}
NEW = {"host": "new.example", "port": "2000", "path": "/v2"}


class Config:
    def __init__(self):
        self.values = OLD
        self.addresses = []

    def get(self, name):
        return self.values[name]

    def connect(self):
        host = self.get("host")
        port = self.get("port")
        path = self.get("path")
        self.addresses.append((host, port, path))

    def reload(self, lines):
        values = {}
        for line in lines:
            name, _, value = line.partition("=")
            values[name] = value
        self.values = values


def make():
    return Config()


def connect(config):
    config.connect()
    config.connect()


def reload(config):
    config.reload([f"{name}={value}" for name, value in NEW.items()])


WORKERS = (connect, reload)


def holds(config):
    return set(config.addresses) <= {tuple(OLD.values()), tuple(NEW.values())}


def tell(config):
    return f"addresses {config.addresses}"


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
