"""A registry with an RLock whose listeners have a lock of their own."""

import threading


class Listener:
    def __init__(self, registry):
        self._registry = registry
        self._guard = threading.Lock()
        self._seen = []

    def notify(self, name):
        with self._guard:
            self._seen.append(name)

    def summary(self):
        with self._guard:
            return [(name, self._registry.value(name)) for name in ("a", "b")]


class Registry:
    def __init__(self):
        self._mutex = threading.RLock()
        self._values = {"a": 1, "b": 2}
        self.listeners = []

    def value(self, name):
        with self._mutex:
            return self._values[name]

    def put(self, name, value):
        with self._mutex:
            self._values[name] = value
            self._tell(name)

    def _tell(self, name):
        with self._mutex:
            for listener in self.listeners:
                listener.notify(name)


def main():
    registry = Registry()
    listener = Listener(registry)
    registry.listeners.append(listener)
    writer = threading.Thread(target=registry.put, args=("a", 5), name="writer")
    reader = threading.Thread(target=listener.summary, name="reader")
    writer.start()
    reader.start()
    writer.join()
    reader.join()
    print("done")


main()
