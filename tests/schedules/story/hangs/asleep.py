"""A thermometer's thread hands its readings to an asyncio service."""

import asyncio
import threading


class Service:
    def __init__(self):
        self.readings = asyncio.Queue()
        self.total = 0

    async def serve(self):
        thread = threading.Timer(1, self.readings.put_nowait, (21,))
        thread.start()
        self.total += await self.readings.get()
        thread.join()


async def main():
    service = Service()
    await service.serve()
    assert service.total == 21


if __name__ == "__main__":
    # The loop is asleep when the reading comes.
    asyncio.run(main())
