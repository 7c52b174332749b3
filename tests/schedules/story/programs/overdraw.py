"""Check then act: two withdrawals; SystemExit with a code if the balance is negative."""

import sys
import threading

balance = 100
log = []


def withdraw(amount):
    global balance
    if balance >= amount:
        log.append(amount)
        balance = balance - amount
        return True
    return False


def main():
    threads = [threading.Thread(target=withdraw, args=(80,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    paid = sum(log)
    if paid > 100:
        sys.exit(f"paid {paid}")


main()
