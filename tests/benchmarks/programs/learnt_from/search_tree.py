"""A search tree into which words are put at the first free place."""

import threading


class Node:
    def __init__(self, word):
        self.word = word
        self.smaller = None
        self.larger = None


class Tree:
    def __init__(self, word):
        self.root = Node(word)

    def insert(self, word):
        node = self.root
        while True:
            if word < node.word:
                if node.smaller is None:
                    node.smaller = Node(word)
                    return
                node = node.smaller
            else:
                if node.larger is None:
                    node.larger = Node(word)
                    return
                node = node.larger

    def words(self, node):
        if node is None:
            return []
        return [*self.words(node.smaller), node.word, *self.words(node.larger)]


def make():
    return Tree("melon")


def insert(*words):
    def run(tree):
        for word in words:
            tree.insert(word)

    return run


WORKERS = (insert("fig", "peach", "kiwi"), insert("apple", "plum", "lime"))


def holds(tree):
    return tree.words(tree.root) == ["apple", "fig", "kiwi", "lime", "melon", "peach", "plum"]


def tell(tree):
    return f"words {tree.words(tree.root)}"


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
