"""A thread pool that maps a small function over 10,000 items.

Argument: the number of items.
"""

import sys
from concurrent.futures import ThreadPoolExecutor


def successor(number):
    return number + 1


items = int(sys.argv[1])
with ThreadPoolExecutor(4) as pool:
    assert sum(pool.map(successor, range(items))) == items * (items + 1) // 2
