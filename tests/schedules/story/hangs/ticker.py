"""A thread hands prices to an asyncio program, through a function that is meant for the loop's own thread."""

import asyncio
import threading


class Ticker:
    def __init__(self, loop):
        self.loop = loop
        self.prices = asyncio.Queue()

    def publish(self, price):
        self.loop.call_soon(self.prices.put_nowait, price)


def trade(ticker):
    for price in (31, 32, None):
        ticker.publish(price)


async def main():
    ticker = Ticker(asyncio.get_running_loop())
    thread = threading.Thread(target=trade, args=(ticker,))
    thread.start()
    highest = 0
    while (price := await ticker.prices.get()) is not None:
        highest = max(highest, price)
    thread.join()
    assert highest == 32


if __name__ == "__main__":
    asyncio.run(main())
