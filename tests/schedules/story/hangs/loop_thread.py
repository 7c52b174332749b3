"""A bridge from threads into an asyncio loop, used by mistake from a coroutine of that very loop."""

import asyncio
import threading


class Bridge:
    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.cache = {}

    async def _load(self, name):
        await asyncio.sleep(0)
        return name.upper()

    def load(self, name):
        if name not in self.cache:
            future = asyncio.run_coroutine_threadsafe(self._load(name), self.loop)
            self.cache[name] = future.result()
        return self.cache[name]

    async def greet(self, name):
        return "hello " + self.load(name)


def warm(bridge):
    bridge.load("ada")


def main():
    bridge = Bridge()
    helper = threading.Thread(target=warm, args=(bridge,))
    helper.start()
    greeting = asyncio.run_coroutine_threadsafe(bridge.greet("ada"), bridge.loop)
    print(greeting.result())
    helper.join()


main()
