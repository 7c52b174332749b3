"""Pictures of two devices are sent to one album; each device has an event loop of its own."""

import asyncio
import threading


class Album:
    def __init__(self):
        self.lock = threading.Lock()
        self.pictures = {}
        self.used = 0

    def weigh(self, picture):
        return len(picture) * 10

    def store(self, name, picture):
        with self.lock:
            self.pictures[name] = picture
        self.used += self.weigh(picture)


class Device:
    def __init__(self, name, *pictures):
        self.name = name
        self.pictures = pictures

    async def send(self, album, number, picture):
        await asyncio.to_thread(album.store, f"{self.name}{number}", picture)

    async def sync(self, album):
        await asyncio.gather(*(self.send(album, number, picture) for number, picture in enumerate(self.pictures)))


def make():
    return Album()


def device(name, *pictures):
    def run(album):
        asyncio.run(Device(name, *pictures).sync(album))

    return run


WORKERS = (device("phone", "sea", "shore"), device("camera", "mountain"))


def holds(album):
    return len(album.pictures) == 3 and album.used == 160


def tell(album):
    return f"pictures {sorted(album.pictures)}, used {album.used}"


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
