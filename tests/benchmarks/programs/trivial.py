"""The smallest program with two threads: what a test costs beside the program itself."""

import threading

found = []
threads = [threading.Thread(target=found.append, args=(number,)) for number in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
