"""Bids on a painting, whose price and bidder are put down one after the other."""

import threading


class Auction:
    def __init__(self):
        self.price = 0
        self.bidder = None
        self.bids = []
        self.lock = threading.Lock()

    def bid(self, name, amount):
        with self.lock:
            self.bids.append((amount, name))
        if amount > self.price:
            self.price = int(amount)
            self.bidder = str(name)


def make():
    return Auction()


def bidder(name, *amounts):
    def run(auction):
        for amount in amounts:
            auction.bid(name, amount)

    return run


WORKERS = (bidder("ann", 10, 40), bidder("bob", 20, 50), bidder("cid", 60))


def holds(auction):
    return (auction.price, auction.bidder) == max(auction.bids)


def tell(auction):
    return f"{auction.bidder} for {auction.price}, bids {auction.bids}"


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
