"""An audit trail: threads add lines to a buffer in memory, one thread writes the full buffers away."""

import threading


class Trail:
    def __init__(self):
        self.active = []
        self.written = []

    def render(self, who, action, **details):
        words = [f"{key}={value}" for key, value in sorted(details.items())]
        return f"{who} {action} {' '.join(words)}".rstrip()

    def record(self, who, action, **details):
        self.active.append(self.render(who, action, **details))

    def flush(self):
        full, self.active = self.active, []
        self.written.extend(full)


def make():
    return Trail()


def clerk(trail):
    trail.record("clerk", "opened", account=17)
    trail.record("clerk", "credited", account=17, amount=250)
    trail.record("clerk", "left")


def robot(trail):
    for account in (3, 9):
        trail.record("robot", "checked", account=account, result="fine")


def writer(trail):
    for _ in range(3):
        trail.flush()


WORKERS = (clerk, robot, writer)


def holds(trail):
    return len(trail.written) + len(trail.active) == 5


def tell(trail):
    return f"written {trail.written}, active {trail.active}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.flush()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()
