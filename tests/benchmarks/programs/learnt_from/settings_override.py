"""Settings that a block of code may override for a while."""

import threading
from contextlib import contextmanager

DEFAULTS = {"language": "en", "zone": "UTC", "debug": False}


class Settings:
    def __init__(self):
        self.values = dict(DEFAULTS)
        self.pages = []

    @contextmanager
    def override(self, **changes):
        before = self.values
        self.values = {**before, **changes}
        yield
        self.values = before

    def render(self, name):
        self.pages.append(f"{name} in {self.values['language']}")


def make():
    return Settings()


def french(settings):
    with settings.override(language="fr"):
        settings.render("menu")
    settings.render("footer")


def german(settings):
    settings.render("header")
    with settings.override(language="de", zone="CET"):
        settings.render("menu")


WORKERS = (french, german)


def holds(settings):
    return settings.values == DEFAULTS


def tell(settings):
    return f"values {settings.values}, pages {settings.pages}"


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
