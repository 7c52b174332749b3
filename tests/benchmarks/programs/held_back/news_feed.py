"""Reporters in threads of their own hand news to a screen that an event loop runs."""

import asyncio
import threading


class Screen:
    def __init__(self):
        self.lock = threading.Lock()
        self.loop = None
        self.shown = []
        self.kept = []

    async def run(self, turns):
        self.loop = asyncio.get_running_loop()
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
        finally:
            self.loop = None
            await asyncio.sleep(0)

    def report(self, text):
        loop = self.loop
        if loop is None:
            self.keep(text)
        else:
            loop.call_soon_threadsafe(self.shown.append, text)

    def keep(self, text):
        self.kept.append(text)


def make():
    return Screen()


def show(screen):
    asyncio.run(screen.run(3))


def reporter(*texts):
    def run(screen):
        for text in texts:
            screen.report(text)

    return run


WORKERS = (show, reporter("rain", "storm"), reporter("goal"))


def holds(screen):
    return sorted(screen.shown + screen.kept) == ["goal", "rain", "storm"]


def tell(screen):
    return f"shown {screen.shown}, kept {screen.kept}"


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
