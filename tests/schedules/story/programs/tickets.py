"""Ticket numbers come from a closure that two executors' workers share."""

from concurrent.futures import ThreadPoolExecutor


def make_dispenser():
    last = 0

    def draw():
        nonlocal last
        number = last + 1
        label = describe(number)
        last = number
        return label

    return draw


def describe(number):
    return f"ticket {number}"


def main():
    draw = make_dispenser()
    with ThreadPoolExecutor(max_workers=2) as pool:
        futures = [pool.submit(draw) for _ in range(2)]
    labels = [future.result() for future in futures]
    assert len(set(labels)) == 2, labels


main()
