"""Words counted in each thread for itself and added up in the end."""

import threading

TEXTS = ("the cat and the dog and the bird " * 12, "a bird in the hand and two in the bush " * 10)


class Totals:
    def __init__(self):
        self.words = {}


def make():
    return Totals()


def count(number):
    def run(totals):
        own = {}
        for word in TEXTS[number].split():
            own[word] = own.get(word, 0) + 1
        for word, times in own.items():
            totals.words[word] = totals.words.get(word, 0) + times

    return run


WORKERS = (count(0), count(1))


def holds(totals):
    words = " ".join(TEXTS).split()
    return all(totals.words.get(word) == words.count(word) for word in set(words))


def tell(totals):
    return f"counted {totals.words}"


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
