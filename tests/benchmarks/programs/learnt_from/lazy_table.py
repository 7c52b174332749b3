"""Telephone numbers written with the code of their country, from a table that is read on first use."""

from concurrent.futures import ThreadPoolExecutor

ROWS = "fr:33 de:49 it:39 es:34 pt:351 nl:31 be:32 at:43"


class Codes:
    def __init__(self):
        self._table = None
        self.dialled = []

    @property
    def table(self):
        if self._table is None:
            self._table = {}
            for row in ROWS.split():
                country, _, code = row.partition(":")
                self._table[country] = int(code)
        return self._table

    def dial(self, country, number):
        code = self.table[country]
        self.dialled.append(f"+{code}{number}")


def make():
    return Codes()


def from_nice(codes):
    codes.dial("fr", "412")
    codes.dial("it", "9")


def from_porto(codes):
    codes.dial("fr", "17")
    codes.dial("pt", "220")


def from_berlin(codes):
    codes.dial("de", "30")


WORKERS = (from_nice, from_porto, from_berlin)


def holds(codes):
    return sorted(codes.dialled) == ["+3317", "+33412", "+351220", "+399", "+4930"]


def tell(codes):
    return f"dialled {codes.dialled}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
