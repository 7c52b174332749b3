"""The example of the README: two threads add to a total without a lock."""

import threading

total = 0


def add(text):
    global total
    total = total + len(text)


threads = [threading.Thread(target=add, args=("four",)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert total == 8, f"the total is {total}"
