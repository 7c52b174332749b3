"""Images kept only as long as somebody shows them."""

import threading
import weakref


class Image:
    def __init__(self, name):
        self.name = name
        self.size = len(name) * 10


class Images:
    def __init__(self):
        self.loaded = weakref.WeakValueDictionary()
        self.lock = threading.Lock()
        self.drawn = 0

    def load(self, name):
        with self.lock:
            if name in self.loaded:
                return self.loaded[name]
            image = self.loaded[name] = Image(name)
            return image

    def draw(self, name):
        image = self.load(name)
        size = image.size
        del image
        self.drawn += size > 0


def make():
    return Images()


def page(images):
    for name in ("logo", "map"):
        images.draw(name)


WORKERS = (page, page)


def holds(images):
    return images.drawn >= 1


def tell(images):
    return f"drawn {images.drawn}"


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
