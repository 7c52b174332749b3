"""Tickets that number themselves, printed at three counters."""

import threading


class Ticket:
    issued = 0
    lock = None

    def __init__(self, counter):
        self.counter = counter
        with Ticket.lock:
            Ticket.issued += 1
        self.number = Ticket.issued


class Hall:
    def __init__(self):
        self.tickets = []


def make():
    Ticket.issued = 0
    Ticket.lock = threading.Lock()
    return Hall()


def counter(name):
    def run(hall):
        for _ in range(4):
            hall.tickets.append(Ticket(name))

    return run


WORKERS = (counter("passports"), counter("parking"), counter("taxes"))


def holds(hall):
    return len({ticket.number for ticket in hall.tickets}) == 12


def tell(hall):
    return f"numbers {sorted(ticket.number for ticket in hall.tickets)}"


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
