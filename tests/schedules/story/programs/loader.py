"""A table is marked as loaded before it is filled."""

from concurrent.futures import ThreadPoolExecutor


class Table:
    def __init__(self):
        self.loaded = False
        self.rows = {}

    def load(self):
        if not self.loaded:
            self.loaded = True
            for number in range(3):
                self.rows[number] = self.make(number)

    def make(self, number):
        return f"row {number}"

    def get(self, number):
        self.load()
        return self.rows[number]


def main():
    table = Table()
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(table.get, [0, 2]))
    assert found == ["row 0", "row 2"], found


main()
