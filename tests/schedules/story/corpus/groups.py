"""Words are grouped by their first letter."""

import threading
from collections import defaultdict


class Group:
    def __init__(self):
        self.words = []

    def add(self, word):
        self.words.append(word)

    def __len__(self):
        return len(self.words)


class Grouping:
    def __init__(self):
        self.groups = defaultdict(Group)

    def sort(self, words):
        for word in words:
            self.groups[word[0]].add(word)


def main():
    grouping = Grouping()
    lists = [["apple", "bread"], ["avocado", "cheese"]]
    threads = [threading.Thread(target=grouping.sort, args=(words,)) for words in lists]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    count = sum(len(group) for group in grouping.groups.values())
    assert count == 4, count


if __name__ == "__main__":
    main()
