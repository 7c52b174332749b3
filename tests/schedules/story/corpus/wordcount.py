"""Counts words of several texts in a pool of threads."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

TEXTS = {
    "one.txt": "the cat saw the dog",
    "two.txt": "the dog ran",
}


class Index:
    def __init__(self):
        self.counts = defaultdict(int)
        self.files = {}

    def normalise(self, word):
        return word.strip(".,;").lower()

    def add_file(self, name, text):
        words = text.split()
        self.files[name] = len(words)
        for word in words:
            key = self.normalise(word)
            self.counts[key] = self.bump(key)

    def bump(self, key):
        return self.counts[key] + 1


def main():
    index = Index()
    with ThreadPoolExecutor(max_workers=2) as pool:
        jobs = [pool.submit(index.add_file, name, text) for name, text in TEXTS.items()]
        for job in jobs:
            job.result()
    expected = sum(len(text.split()) for text in TEXTS.values())
    assert sum(index.counts.values()) == expected, dict(index.counts)


main()
