"""A switchboard: a phone is listed before it has its line and its ring tone."""

import threading


class Phone:
    def __init__(self, number):
        self.number = number

    def ring(self, caller):
        return f"{self.tone}: {caller} calls on line {self.line}"


class Switchboard:
    def __init__(self):
        self.phones = {}
        self.lines = iter(range(100, 200))
        self.calls = []

    def install(self, number):
        phone = Phone(number)
        self.phones[number] = phone
        phone.line = next(self.lines)
        phone.tone = "bell"
        self.calls.append(f"installed {number}")
        return phone

    def call(self, caller, number):
        phone = self.phones.get(number)
        if phone is None:
            self.calls.append(f"{number}: no such number")
            return
        self.calls.append(phone.ring(caller))


def main():
    board = Switchboard()
    threads = [
        threading.Thread(target=board.install, args=("12",)),
        threading.Thread(target=board.call, args=("ann", "12")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(board.calls) == 2


main()
