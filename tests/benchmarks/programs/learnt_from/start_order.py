"""Three services that need one another started in an order that nobody sees to."""

import threading


class System:
    def __init__(self):
        self.settings = {}
        self.cache = {}
        self.server = "off"


def make():
    return System()


def load_settings(system):
    system.settings["size"] = 8
    if system.server == "on":
        system.settings["size"] = 16


def warm_cache(system):
    size = system.settings.get("size", 4)
    for number in range(size):
        system.cache[number] = number * number


def serve(system):
    if len(system.cache) > 4:
        return
    system.server = "on"


WORKERS = (load_settings, warm_cache, serve)


def holds(system):
    return len(system.cache) <= 8


def tell(system):
    return f"the cache holds {len(system.cache)}"


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
