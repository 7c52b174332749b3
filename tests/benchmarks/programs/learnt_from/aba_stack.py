"""A stack without locks around pop, over a compare-and-swap, whose nodes are used again."""

import threading


class Node:
    def __init__(self, value):
        self.value = value
        self.below = None


class Cell:
    def __init__(self):
        self.lock = threading.Lock()
        self.content = None

    def swap(self, expected, new):
        with self.lock:
            if self.content is not expected:
                return False
            self.content = new
            return True


class Stack:
    def __init__(self):
        self.head = Cell()

    def push(self, node):
        while True:
            node.below = self.head.content
            if self.head.swap(node.below, node):
                return

    def pop(self):
        while True:
            top = self.head.content
            if top is None:
                return None
            below = top.below
            if self.head.swap(top, below):
                return top


class Buffers:
    def __init__(self):
        self.free = Stack()
        self.held = []
        for name in "cba":
            self.free.push(Node(name))


def make():
    return Buffers()


def take_one(buffers):
    buffers.held.append(buffers.free.pop())


def take_two_return_one(buffers):
    first = buffers.free.pop()
    second = buffers.free.pop()
    buffers.held.append(second)
    buffers.free.push(first)


WORKERS = (take_one, take_two_return_one)


def names(buffers):
    left = [node.value for node in buffers.held]
    node = buffers.free.head.content
    while node is not None:
        left.append(node.value)
        node = node.below
    return sorted(left)


def holds(buffers):
    return names(buffers) == ["a", "b", "c"]


def tell(buffers):
    return f"buffers {names(buffers)}"


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
