"""Channels are made on first use, under a lock that is taken after the only look."""

import threading

channels = {}
guard = threading.Lock()


def channel(name):
    if name not in channels:
        with guard:
            channels[name] = []
    return channels[name]


def write(text):
    channel("audit").append(text)


def main():
    threads = [threading.Thread(target=write, args=(text,)) for text in ("login", "logout")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(channels["audit"]) == 2, channels


main()
