"""A page that is shown when it is loaded, with a loader that says so a little early."""

import threading


class Page:
    def __init__(self):
        self.changed = threading.Condition()
        self.progress = 0
        self.content = None
        self.shown = []

    def load(self, parts):
        content = []
        for part in parts:
            content.append(part)
            with self.changed:
                self.progress += 1
                self.changed.notify_all()
        self.content = " ".join(content)

    def show(self):
        with self.changed:
            while self.content is None:
                self.changed.wait()
            self.shown.append(self.content)


def make():
    return Page()


def load(page):
    page.load(["once", "upon"])


def show(page):
    page.show()


WORKERS = (load, show)


def holds(page):
    return page.shown == ["once upon"]


def tell(page):
    return f"shown {page.shown}"


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
