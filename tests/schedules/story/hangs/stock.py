"""A warehouse waits for goods under its lock, and the delivery needs that lock to bring them."""

import queue
import threading


class Warehouse:
    def __init__(self):
        self._door = threading.Lock()
        self._arrivals = queue.Queue()
        self.stock = []

    def deliver(self, goods):
        with self._door:
            self._arrivals.put(goods)

    def take(self):
        with self._door:
            goods = self._arrivals.get()
        self.stock.append(goods)
        return goods


def supplier(warehouse):
    warehouse.deliver("apples")


def main():
    warehouse = Warehouse()
    thread = threading.Thread(target=supplier, args=(warehouse,), name="supplier")
    thread.start()
    print("took", warehouse.take())
    thread.join()


main()
