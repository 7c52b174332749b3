"""A pool of message blocks, as a stack under compare-and-set: blocks that are given back are used again."""

import threading


class Block:
    def __init__(self, name):
        self.name = name
        self.next = None
        self.owner = ""


class Pool:
    def __init__(self, names):
        self.guard = threading.Lock()
        self.first = None
        for name in names:
            self.give(Block(name))

    def compare_and_set(self, old, new):
        with self.guard:
            if self.first is old:
                self.first = new
                return True
            return False

    def give(self, block):
        while True:
            block.next = self.first
            if self.compare_and_set(block.next, block):
                return

    def take(self, owner):
        while True:
            block = self.first
            following = block.next
            if self.compare_and_set(block, following):
                if block.owner:
                    raise RuntimeError(f"{block.name} is used by {block.owner}")
                block.owner = owner
                return block


def reader(pool):
    block = pool.take("reader")
    other = pool.take("reader")
    for one in (other, block):
        one.owner = ""
        pool.give(one)


def writer(pool):
    header = pool.take("writer")
    body = pool.take("writer")
    header.owner = ""
    pool.give(header)
    mail = pool.take("writer")
    trailer = pool.take("writer")
    assert len({body.name, mail.name, trailer.name}) == 3


def main():
    pool = Pool("fedcba")
    threads = [threading.Thread(target=work, args=(pool,)) for work in (reader, writer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
