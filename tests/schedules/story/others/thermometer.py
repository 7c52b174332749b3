"""A thread hands the values of a sensor to an asyncio program."""

import asyncio
import threading


class Sensor:
    def __init__(self):
        self.ready = threading.Event()
        self.error = None
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.ready.wait()
        try:
            for value in (20, 21):
                self.loop.call_soon_threadsafe(self.values.put_nowait, value)
        except RuntimeError as error:
            self.error = error

    async def first(self):
        self.values = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self.ready.set()
        return await self.values.get()


sensor = Sensor()
sensor.thread.start()
assert asyncio.run(sensor.first()) == 20
sensor.thread.join()
assert sensor.error is None, sensor.error
