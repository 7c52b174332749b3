"""A worker is started before the object that it uses is complete."""

import threading


class Service:
    def __init__(self, names):
        self.results = {}
        self.worker = threading.Thread(target=self.run)
        self.worker.start()
        self.handlers = dict.fromkeys(names, len)

    def run(self):
        for name in ("a", "bb"):
            self.results[name] = self.dispatch(name)

    def dispatch(self, name):
        handler = self.handlers[name]
        return handler(name)


def main():
    service = Service(["a", "bb"])
    service.worker.join()
    assert service.results == {"a": 1, "bb": 2}, service.results


main()
