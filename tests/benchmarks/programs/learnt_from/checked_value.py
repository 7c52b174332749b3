"""Volumes that a descriptor keeps between 0 and 100."""

import threading


class Between:
    def __init__(self, low, high):
        self.low = low
        self.high = high
        self.fixed = 0

    def __set_name__(self, owner, name):
        self.name = f"_{name}"

    def __get__(self, owner, kind=None):
        return getattr(owner, self.name)

    def __set__(self, owner, value):
        if not self.low <= value <= self.high:
            self.fixed = value
            if self.fixed < self.low:
                self.fixed = self.low
            if self.fixed > self.high:
                self.fixed = self.high
            value = self.fixed
        setattr(owner, self.name, value)


class Channel:
    volume = Between(0, 100)

    def __init__(self):
        self.volume = 50


class Mixer:
    def __init__(self):
        self.channels = [Channel() for _ in range(3)]


def make():
    return Mixer()


def fade(number, volumes):
    def run(mixer):
        for volume in volumes:
            mixer.channels[number].volume = volume

    return run


WORKERS = (fade(0, (60, 80, 100, 120)), fade(1, (30, 10, -10)), fade(2, (55, 60, 65, 70, 75)))


def holds(mixer):
    return [channel.volume for channel in mixer.channels] == [100, 0, 75]


def tell(mixer):
    return f"volumes {[channel.volume for channel in mixer.channels]}"


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
