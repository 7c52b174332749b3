"""A topic from which a subscriber goes while a message is given out."""

import threading


class Topic:
    def __init__(self):
        self.subscribers = []

    def subscribe(self, inbox):
        self.subscribers.append(inbox)

    def unsubscribe(self, inbox):
        self.subscribers.remove(inbox)

    def publish(self, message):
        for inbox in self.subscribers:
            inbox.receive(message)


class Inbox:
    def __init__(self, name):
        self.name = name
        self.messages = []

    def receive(self, message):
        self.messages.append(message)


class News:
    def __init__(self):
        self.topic = Topic()
        self.inboxes = [Inbox(name) for name in ("ann", "bob", "eve")]
        for inbox in self.inboxes:
            self.topic.subscribe(inbox)


def make():
    return News()


def publish(news):
    for message in ("one", "two"):
        news.topic.publish(message)


def leave(news):
    news.topic.unsubscribe(news.inboxes[0])


WORKERS = (publish, leave)


def holds(news):
    return all(inbox.messages == ["one", "two"] for inbox in news.inboxes[1:])


def tell(news):
    return str([inbox.messages for inbox in news.inboxes])


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
