"""Districts count their ballots; the last one to close declares the result."""

import threading


class Election:
    def __init__(self, districts):
        self.lock = threading.Lock()
        self.counting = list(districts)
        self.votes = {}
        self.result = None

    def count(self, name):
        with self.lock:
            self.votes[name] = self.votes.get(name, 0) + 1

    def close(self, district):
        others = [other for other in self.counting if other != district]
        self.counting = others
        if not others:
            self.declare()

    def declare(self):
        with self.lock:
            self.result = max(self.votes, key=self.votes.get)


BALLOTS = {
    "harbour": ["elm", "oak", "oak"] * 9,
    "market": ["oak", "elm", "fir"] * 8,
    "hills": ["fir", "oak"] * 7,
}


def make():
    return Election(BALLOTS)


def district(name):
    def run(election):
        for ballot in BALLOTS[name]:
            election.count(ballot)
        election.close(name)

    return run


WORKERS = (district("harbour"), district("market"), district("hills"))


def holds(election):
    return sum(election.votes.values()) == 65 and election.result == "oak"


def tell(election):
    return f"votes {election.votes}, still counting {election.counting}, result {election.result}"


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
