"""A client waits at most a moment for the answer; a slow server is too late."""

import threading


class Call:
    def __init__(self):
        self.ready = threading.Event()
        self.answer = None

    def finish(self, answer):
        self.answer = answer
        self.ready.set()


def server(call):
    text = "".join(chr(97 + number) for number in range(5))
    call.finish(text)


def main():
    call = Call()
    thread = threading.Thread(target=server, args=(call,))
    thread.start()
    call.ready.wait(timeout=0.05)
    length = len(call.answer)
    thread.join()
    assert length == 5


main()
