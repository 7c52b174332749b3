"""Images that stay in memory for as long as some page shows them."""

import threading
from weakref import WeakValueDictionary


class Image:
    def __init__(self, name):
        self.name = name
        self.size = 16 * len(name)


class Browser:
    def __init__(self):
        self.images = WeakValueDictionary()
        self.shown = []

    def load(self, name):
        if name in self.images:
            return self.images[name]
        image = Image(name)
        self.images[name] = image
        return image

    def show(self, page, names):
        for name in names:
            image = self.load(name)
            self.shown.append((page, image.name, image.size))
            image = None


def make():
    return Browser()


def home(browser):
    browser.show("home", ["logo", "photo"])


def news(browser):
    browser.show("news", ["banner", "logo"])


def about(browser):
    browser.show("about", ["team"])


WORKERS = (home, news, about)


def holds(browser):
    return len(browser.shown) == 5


def tell(browser):
    return f"shown {browser.shown}"


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
