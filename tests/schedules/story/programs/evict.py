"""Subscribers are called in a loop; one unsubscribes from another thread meanwhile."""

import threading


class Bus:
    def __init__(self):
        self._subscribers = []

    def subscribe(self, callback):
        self._subscribers.append(callback)

    def unsubscribe(self, callback):
        self._subscribers.remove(callback)

    def publish(self, event):
        for index in range(len(self._subscribers)):
            callback = self._subscribers[index]
            callback(event)


def main():
    bus, got = Bus(), []
    first, second = (lambda event: got.append(("first", event))), (lambda event: got.append(("second", event)))
    bus.subscribe(first)
    bus.subscribe(second)
    threads = [
        threading.Thread(target=bus.publish, args=("ping",)),
        threading.Thread(target=bus.unsubscribe, args=(first,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
