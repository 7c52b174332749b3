"""A mailer sends letters from a queue until it is told to stop."""

import queue
import threading


class Mailer:
    def __init__(self):
        self.letters = queue.Queue()
        self.stopping = False
        self.sent = []
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping:
            letter = self.letters.get()
            self.deliver(letter)
            self.letters.task_done()

    def deliver(self, letter):
        self.sent.append(letter.upper())

    def stop(self):
        self.letters.join()
        self.stopping = True
        self.thread.join()


def main():
    mailer = Mailer()
    mailer.letters.put("hello")
    mailer.thread.start()
    mailer.stop()
    assert mailer.sent == ["HELLO"]


main()
