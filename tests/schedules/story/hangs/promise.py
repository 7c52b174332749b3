"""A client gives each request a Future; an answer whose number is not known yet is dropped."""

import threading
from concurrent.futures import Future


class Client:
    def __init__(self):
        self.pending = {}
        self.sent = []

    def ask(self, number):
        self.sent.append(number)
        answer = Future()
        self.pending[number] = answer
        return answer.result()

    def on_answer(self, number, text):
        future = self.pending.pop(number, None)
        if future is None:
            return
        future.set_result(text)


def server(client):
    while not client.sent:
        pass
    client.on_answer(client.sent[0], "pong")


def main():
    client = Client()
    thread = threading.Thread(target=server, args=(client,), name="server")
    thread.start()
    print("answer", client.ask(7))
    thread.join()


main()
