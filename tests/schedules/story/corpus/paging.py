"""An export goes through a table page by page while rows are deleted from it."""

import threading


class Table:
    def __init__(self, rows):
        self.rows = list(rows)

    def page(self, offset, limit):
        return self.rows[offset : offset + limit]

    def delete(self, row):
        self.rows.remove(row)


def all_rows(table, limit=2):
    offset = 0
    while True:
        rows = table.page(offset, limit)
        if not rows:
            return
        yield from rows
        offset += len(rows)


class Export(threading.Thread):
    def __init__(self, table):
        super().__init__(name="export")
        self.table = table
        self.lines = []

    def run(self):
        for row in all_rows(self.table):
            self.lines.append(str(row).rjust(4))


def main():
    table = Table([1, 2, 3, 4, 5])
    export = Export(table)
    cleaner = threading.Thread(target=table.delete, args=(1,), name="cleaner")
    export.start()
    cleaner.start()
    export.join()
    cleaner.join()
    for row in (2, 3, 4, 5):
        assert str(row).rjust(4) in export.lines, export.lines


if __name__ == "__main__":
    main()
