"""An asyncio chat server greets all that are in a room, while a thread of the executor removes guests that are away."""

import asyncio


class Room:
    def __init__(self, names):
        self.guests = {name: [] for name in names}

    def remove(self, name):
        self.guests.pop(name, None)

    async def greet(self, text):
        for name, letters in self.guests.items():
            letters.append(f"{name}, {text}")
            await asyncio.sleep(0)


async def serve():
    room = Room(["ann", "bob", "cat"])
    loop = asyncio.get_running_loop()
    removal = loop.run_in_executor(None, room.remove, "cat")
    await room.greet("hello")
    await removal
    assert len(room.guests) == 2


asyncio.run(serve())
