"""A wallet on an event loop; withdrawals come in from other threads."""

import asyncio
import threading


class Wallet:
    def __init__(self):
        self.balance = 100
        self.journal = []

    async def withdraw(self, amount):
        balance = self.balance
        await asyncio.get_running_loop().run_in_executor(None, self.journal.append, amount)
        self.balance = balance - amount


def main():
    loop = asyncio.new_event_loop()
    runs = threading.Thread(target=loop.run_forever)
    runs.start()
    wallet = Wallet()

    def client(amount):
        asyncio.run_coroutine_threadsafe(wallet.withdraw(amount), loop).result()

    clients = [threading.Thread(target=client, args=(amount,)) for amount in (30, 20)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    loop.call_soon_threadsafe(loop.stop)
    runs.join()
    loop.close()
    assert wallet.balance == 50, wallet.balance


main()
