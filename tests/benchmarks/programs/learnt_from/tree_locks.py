"""A tree whose nodes lock the parent first when cut and the child first when renamed."""

import threading


class Node:
    def __init__(self, name, parent=None):
        self.name = name
        self.parent = parent
        self.children = []
        self.lock = threading.Lock()
        if parent is not None:
            parent.children.append(self)

    def path(self):
        return self.name if self.parent is None else f"{self.parent.path()}/{self.name}"

    def cut(self, child):
        with self.lock:
            if child in self.children:
                with child.lock:
                    self.children.remove(child)
                    child.parent = None

    def rename(self, name):
        with self.lock:
            taken = self.siblings()
            self.name = name if name not in taken else f"{name}-2"

    def siblings(self):
        if self.parent is None:
            return []
        with self.parent.lock:
            return [node.name for node in self.parent.children if node is not self]


def make():
    root = Node("root")
    Node("a", root)
    Node("b", root)
    return root


def rename(root):
    for node in list(root.children):
        node.rename("new")


def cut(root):
    root.cut(root.children[-1])


WORKERS = (rename, cut)


def holds(root):
    return len(root.children) == 1


def tell(root):
    return f"children {[node.path() for node in root.children]}"


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
