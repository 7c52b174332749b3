"""An event loop in a thread of its own, which another thread stops."""

import asyncio
import threading


class LoopThread:
    def __init__(self):
        self.loop = None
        self.started = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.loop = asyncio.new_event_loop()
        self.loop.run_until_complete(self.play())
        self.loop.close()
        self.loop = None

    async def play(self):
        self.started.set()
        for _ in range(2):
            await asyncio.sleep(0)

    def interrupt(self):
        if self.loop is not None:
            self.loop.call_soon_threadsafe(print, "interrupted")


radio = LoopThread()
radio.thread.start()
radio.started.wait()
radio.interrupt()
radio.thread.join()
