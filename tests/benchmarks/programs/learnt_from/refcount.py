"""A picture in shared memory, freed when nobody holds it any more."""

import threading


class Picture:
    def __init__(self):
        self.lock = threading.Lock()
        self.holders = 1
        self.pixels = [1, 2, 3]

    def retain(self):
        if self.holders == 0:
            return False
        with self.lock:
            self.holders += 1
        return True

    def release(self):
        with self.lock:
            self.holders -= 1
            if self.holders == 0:
                self.pixels = None


class Viewer:
    def __init__(self):
        self.picture = Picture()
        self.sums = []


def make():
    return Viewer()


def look(viewer):
    if viewer.picture.retain():
        total = 0
        for pixel in viewer.picture.pixels:
            total += pixel
        viewer.sums.append(total)
        viewer.picture.release()


def close(viewer):
    viewer.picture.release()


WORKERS = (look, close)


def holds(viewer):
    return viewer.picture.pixels is None


def tell(viewer):
    return f"pixels {viewer.picture.pixels}, holders {viewer.picture.holders}"


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
