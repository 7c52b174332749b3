"""Votes counted in rounds; at the end of a round the count begins anew, lock and all."""

import threading


class Poll:
    def __init__(self):
        self.earlier = 0
        self.begin()

    def begin(self):
        self.lock = threading.Lock()
        self.votes = 0

    def vote(self):
        with self.lock:
            votes = self.votes
            self.votes = votes + 1

    def end_round(self):
        with self.lock:
            self.earlier += self.votes
            self.begin()


def make():
    return Poll()


def vote(poll):
    poll.vote()
    poll.vote()


def end_round(poll):
    poll.end_round()


WORKERS = (vote, end_round, vote)


def holds(poll):
    return poll.earlier + poll.votes == 4


def tell(poll):
    return f"votes {poll.earlier} and {poll.votes}"


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
