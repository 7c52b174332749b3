"""A promise tells those who asked when it is fulfilled."""

import threading


class Promise:
    def __init__(self):
        self._fulfilled = False
        self._value = None
        self._callbacks = []

    def then(self, callback):
        if self._fulfilled:
            callback(self._value)
        else:
            self._callbacks.append(callback)

    def fulfil(self, value):
        self._value = value
        self._fulfilled = True
        for callback in self._callbacks:
            callback(value)


class Page:
    def __init__(self):
        self.shown = []

    def show(self, text):
        self.shown.append(text)


def main():
    promise, page = Promise(), Page()
    loader = threading.Thread(target=promise.fulfil, args=("text",))
    viewer = threading.Thread(target=promise.then, args=(page.show,))
    loader.start()
    viewer.start()
    loader.join()
    viewer.join()
    assert page.shown == ["text"], page.shown


if __name__ == "__main__":
    main()
