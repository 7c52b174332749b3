"""A lock for each page is made when it is first asked for: two threads may make one each, and both load the page."""

import threading


class Pages:
    def __init__(self):
        self.guards = {}
        self.texts = {}
        self.loaded = 0

    def text(self, name):
        if name not in self.guards:
            self.guards[name] = threading.Lock()
        with self.guards[name]:
            if name not in self.texts:
                self.loaded += 1
                self.texts[name] = name.title()
            return self.texts[name]


def main():
    pages = Pages()
    threads = [threading.Thread(target=pages.text, args=("home",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pages.loaded == 1


main()
