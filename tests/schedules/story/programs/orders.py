"""Three workers: one writes ids into a slotted record that two others read; a global counter gives the ids."""

import threading

next_id = 0
issued = {}


class Order:
    __slots__ = ("number", "state")

    def __init__(self):
        self.state = "new"
        self.number = take_number()


def take_number():
    global next_id
    next_id += 1
    return label(next_id)


def label(number):
    return f"#{number}"


def order(name):
    made = Order()
    issued[name] = made.number


def main():
    threads = [threading.Thread(target=order, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(issued.values())) == 3, issued


main()
