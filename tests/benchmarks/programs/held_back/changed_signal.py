"""A service that reads its settings anew when it is told that they have changed."""

import threading


class Service:
    def __init__(self):
        self.file = {"colour": "grey", "size": 10}
        self.settings = dict(self.file)
        self.changed = threading.Event()
        self.served = []

    def edit(self, key, value):
        self.file[key] = value
        self.changed.set()

    def refresh(self):
        if self.changed.is_set():
            self.settings = dict(self.file)
            self.changed.clear()

    def serve(self, request):
        self.refresh()
        self.served.append((request, self.settings["colour"], self.settings["size"]))


def make():
    return Service()


def clients(service):
    for request in ("first", "second", "third"):
        service.serve(request)


def administrator(service):
    service.edit("colour", "green")
    service.edit("size", 12)


WORKERS = (clients, administrator)


def holds(service):
    service.refresh()
    return len(service.served) == 3 and service.settings == service.file


def tell(service):
    return f"settings {service.settings}, file {service.file}"


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
