"""CPU-bound: two threads; in each round arithmetic on local variables, a call, and updates of two attributes.

One round: 8 steps of a generator of pseudo-random numbers in local variables, one call of a function that works on a
local list of four, one `if`, and two augmented assignments to attributes of an object that both threads share.
"""

import sys
import threading


class Account:
    def __init__(self):
        self.balance = 0
        self.moves = 0


def middle(values):
    _, second, third, _ = sorted(values)
    return (second + third) // 2


def work(account, rounds, seed):
    value = seed
    for _ in range(rounds):
        total = 0
        for _ in range(8):
            value = (value * 1103515245 + 12345) % 2147483648
            total = total ^ (value >> 7)
        amount = middle([total & 255, value & 255, total >> 16, 100])
        account.balance += amount
        if amount > 100:
            account.moves += 1


def main(rounds):
    account = Account()
    threads = [threading.Thread(target=work, args=(account, rounds, seed)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.moves > 0


main(int(sys.argv[1]))
