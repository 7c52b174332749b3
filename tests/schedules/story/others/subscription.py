"""A subscription that either side may end."""

import threading


class Server:
    def __init__(self):
        self.subscribed = {"news": 1}

    def leave(self, topic):
        self.subscribed[topic] -= 1


class Subscription:
    def __init__(self, server):
        self.server = server
        self.ended = False

    def end(self):
        if self.ended:
            return
        self.server.leave("news")
        self.ended = True


def main():
    server = Server()
    subscription = Subscription(server)
    threads = [threading.Thread(target=subscription.end) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert server.subscribed["news"] == 0, server.subscribed


main()
