"""A collector that marks what is reachable while links are being moved."""

import threading


class Node:
    def __init__(self, name, *links):
        self.name = name
        self.links = list(links)
        self.marked = False
        self.freed = False


class Heap:
    def __init__(self):
        leaf = Node("leaf")
        self.first = Node("first", Node("small"))
        self.second = Node("second", Node("other"), leaf)
        self.nodes = [self.first, self.second, *self.first.links, *self.second.links]

    def mark(self, node):
        if not node.marked:
            node.marked = True
            for link in list(node.links):
                self.mark(link)

    def collect(self):
        for root in (self.first, self.second):
            self.mark(root)
        for node in self.nodes:
            if not node.marked:
                node.freed = True

    def move(self):
        leaf = self.second.links[-1]
        self.first.links.append(leaf)
        self.second.links.pop()


def make():
    return Heap()


def collect(heap):
    heap.collect()


def move(heap):
    heap.move()


WORKERS = (collect, move)


def holds(heap):
    return not any(node.freed for node in heap.first.links + heap.second.links)


def tell(heap):
    return f"freed {[node.name for node in heap.nodes if node.freed]}"


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
