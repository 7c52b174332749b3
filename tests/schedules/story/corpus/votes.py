"""Votes are counted by several clerks; the result keeps a total behind a property."""

import threading
from dataclasses import dataclass, field


@dataclass
class Tally:
    name: str
    _total: int = 0
    history: list = field(default_factory=list)

    @property
    def total(self):
        return self._total

    @total.setter
    def total(self, value):
        self.history.append(value)
        self._total = value


class Election:
    def __init__(self, names):
        self.tallies = {name: Tally(name) for name in names}

    def count(self, ballots):
        for name in ballots:
            tally = self.tallies[name]
            tally.total += 1


def main():
    election = Election(["red", "blue"])
    stacks = [["red", "blue"], ["blue"], ["red"], ["blue"]]
    clerks = [threading.Thread(target=election.count, args=(stack,)) for stack in stacks]
    for clerk in clerks:
        clerk.start()
    for clerk in clerks:
        clerk.join()
    result = {name: tally.total for name, tally in election.tallies.items()}
    assert result == {"red": 2, "blue": 3}, result


if __name__ == "__main__":
    main()
