"""A site that notes who is logged in where every part of a request finds it."""

import threading


class Site:
    def __init__(self):
        self.user = None
        self.rights = {"ann": {"read", "write"}, "guest": {"read"}}
        self.refused = []
        self.written = []

    def may(self, what):
        return what in self.rights[self.user]

    def save(self, text):
        if not self.may("write"):
            self.refused.append(text)
            return
        self.written.append(text)

    def request(self, user, text):
        self.user = user
        words = [word.strip(".,") for word in text.split()]
        self.save(" ".join(words))


def make():
    return Site()


def ann(site):
    site.request("ann", "The plan, as agreed.")


def guest(site):
    site.request("guest", "Buy this now.")


WORKERS = (ann, guest)


def holds(site):
    return site.written == ["The plan as agreed"]


def tell(site):
    return f"written {site.written}, refused {site.refused}"


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
