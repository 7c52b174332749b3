"""One test that starts two threads and never fails."""

import threading


def test_two_threads():
    done = []
    threads = [threading.Thread(target=done.append, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 2
