"""Sessions that expire, walked through while others log in."""

import threading


class Sessions:
    def __init__(self):
        self.by_user = {"ann": 5, "bob": 50}
        self.ended = []

    def expire(self, now):
        for user, until in self.by_user.items():
            if until < now:
                self.ended.append(user)
        for user in self.ended:
            self.by_user.pop(user, None)

    def log_in(self, user, until):
        self.by_user[user] = until


class Site:
    def __init__(self):
        self.sessions = Sessions()
        self.error = None


def make():
    return Site()


def sweep(site):
    try:
        site.sessions.expire(10)
    except RuntimeError as error:
        site.error = error


def log_in(site):
    for user in ("eve", "joe"):
        site.sessions.log_in(user, 60)


WORKERS = (sweep, log_in)


def holds(site):
    return site.error is None


def tell(site):
    return f"{site.error}"


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
