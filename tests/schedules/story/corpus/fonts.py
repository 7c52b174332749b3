"""Fonts are shared as long as a document uses them."""

import threading
import weakref


class Font:
    def __init__(self, name):
        self.name = name
        self.width = len(name)


class FontStore:
    def __init__(self):
        self._fonts = weakref.WeakValueDictionary()

    def get(self, name):
        if name in self._fonts:
            return self._fonts[name]
        font = Font(name)
        self._fonts[name] = font
        return font


class Document:
    def __init__(self, store, font_name):
        self.font = store.get(font_name)

    def close(self):
        self.font = None


def show(store):
    document = Document(store, "serif")
    assert document.font.width == 5
    document.close()


def main():
    store = FontStore()
    threads = [threading.Thread(target=show, args=(store,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
