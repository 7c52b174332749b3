"""Cells of a spreadsheet that tell their charts of each change."""

import threading


class Cell:
    def __init__(self):
        self.lock = threading.RLock()
        self.value = 0
        self.charts = []

    def watch(self, chart):
        with self.lock:
            self.charts.append(chart)

    def forget(self, chart):
        with self.lock:
            if chart in self.charts:
                self.charts.remove(chart)

    def set(self, value):
        with self.lock:
            self.value = value
            for chart in self.charts:
                chart.redraw(value)


class Chart:
    def __init__(self, cells):
        self.lock = threading.Lock()
        self.cells = cells
        self.drawn = []
        for cell in cells:
            cell.watch(self)

    def redraw(self, value):
        with self.lock:
            self.drawn.append(value)

    def close(self):
        with self.lock:
            for cell in self.cells:
                cell.forget(self)
            self.cells = []


def make():
    return Chart([Cell(), Cell(), Cell()])


def type_numbers(chart):
    first, second = chart.cells[:2] or (Cell(), Cell())
    for number in (1, 2):
        first.set(number)
        second.set(10 * number)


def close(chart):
    chart.close()


WORKERS = (type_numbers, close)


def holds(chart):
    return chart.cells == []


def tell(chart):
    return f"drawn {chart.drawn}, cells {chart.cells}"


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
