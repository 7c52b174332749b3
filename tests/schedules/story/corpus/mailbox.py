"""Two clerks wait for letters in one mailbox."""

import threading


class Mailbox:
    def __init__(self):
        self._letters = []
        self._arrived = threading.Condition()

    def post(self, *letters):
        with self._arrived:
            self._letters.extend(letters)
            self._arrived.notify_all()

    def take(self):
        with self._arrived:
            if not self._letters:
                self._arrived.wait(timeout=5)
            return self._letters.pop(0)


class Clerk(threading.Thread):
    def __init__(self, mailbox):
        super().__init__()
        self.mailbox = mailbox
        self.got = None
        self.error = None

    def run(self):
        try:
            self.got = self.mailbox.take()
        except IndexError as error:
            self.error = error


def main():
    mailbox = Mailbox()
    clerks = [Clerk(mailbox) for _ in range(2)]
    for clerk in clerks:
        clerk.start()
    mailbox.post("first")
    mailbox.post("second")
    for clerk in clerks:
        clerk.join()
    failed = [clerk.error for clerk in clerks if clerk.error is not None]
    assert not failed, failed


if __name__ == "__main__":
    main()
