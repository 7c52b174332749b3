"""A producer that parses lines for a consumer; it dies if the table of units is not loaded yet."""

import queue
import threading

units = {}


def load_units():
    for name, factor in (("m", 1), ("km", 1000)):
        units[name] = factor


def parse(line):
    number, unit = line.split()
    return float(number) * units[unit]


class Producer:
    def __init__(self, lines, out):
        self.lines = lines
        self.out = out

    def run(self):
        for line in self.lines:
            self.out.put(parse(line))
        self.out.put(None)


def consume(values, totals):
    total = 0.0
    while (value := values.get()) is not None:
        total += value
    totals.append(total)


def main():
    values = queue.Queue()
    totals = []
    loader = threading.Thread(target=load_units)
    producer = threading.Thread(target=Producer(["2 m", "3 km"], values).run)
    consumer = threading.Thread(target=consume, args=(values, totals))
    for thread in (loader, producer, consumer):
        thread.start()
    consumer.join()
    print("total", totals)


main()
