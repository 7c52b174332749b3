"""People are found by number and by name."""

import threading
from dataclasses import dataclass


@dataclass
class Person:
    number: int
    name: str


class Directory:
    def __init__(self):
        self._by_number = {}
        self._by_name = {}

    def add(self, person):
        self._by_number[person.number] = person
        self._by_name[self._key(person.name)] = person

    def _key(self, name):
        return name.casefold()

    def rename(self, person, name):
        del self._by_name[self._key(person.name)]
        person.name = name
        self._by_name[self._key(name)] = person

    def everybody(self):
        return [self._by_name[self._key(person.name)] for person in list(self._by_number.values())]


def main():
    directory = Directory()
    directory.add(Person(1, "Ada"))
    listed = []
    clerk = threading.Thread(target=directory.add, args=(Person(2, "Bob"),))
    printer = threading.Thread(target=lambda: listed.append(directory.everybody()))
    clerk.start()
    printer.start()
    clerk.join()
    printer.join()
    assert listed, "the list was not printed"


if __name__ == "__main__":
    main()
