"""Lines of a table taken apart; the parts in quotes go through an unquoter."""

from concurrent.futures import ThreadPoolExecutor


class Unquoter:
    def __init__(self):
        self.text = []

    def feed(self, text):
        self.text.clear()
        quoted = False
        for letter in text:
            if letter == "\\" and not quoted:
                quoted = True
            else:
                self.text.append(letter)
                quoted = False

    def result(self):
        return "".join(self.text)


class Table:
    def __init__(self):
        self.unquoter = Unquoter()
        self.rows = {}

    def cell(self, text):
        if text.startswith('"'):
            self.unquoter.feed(text[1:-1])
            return self.unquoter.result()
        return text

    def read(self, line):
        self.rows[line] = [self.cell(text) for text in line.split(";")]


LINES = {
    "1;pen;blue": ["1", "pen", "blue"],
    '2;"6\\" ruler";3': ["2", '6" ruler', "3"],
    "3;lamp;white;large;40": ["3", "lamp", "white", "large", "40"],
    '4;desk;"2\\\\3"': ["4", "desk", "2\\3"],
}


def make():
    return Table()


def reader(line):
    return lambda table: table.read(line)


WORKERS = tuple(reader(line) for line in LINES)


def holds(table):
    return table.rows == LINES


def tell(table):
    return f"rows {table.rows}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
