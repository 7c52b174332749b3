"""A window is moved while another thread looks where it is: half of the move shows."""

import threading


class Window:
    def __init__(self):
        self.left = 0
        self.right = 10

    def move(self, by):
        self.left += by
        self.right += by

    def extent(self):
        left = self.left
        right = self.right
        return left, right


def mover(window):
    for step in (5, -5):
        window.move(step)


def painter(window, widths):
    left, right = window.extent()
    widths.append(right - left)


def main():
    window = Window()
    widths = []
    threads = [
        threading.Thread(target=mover, args=(window,)),
        threading.Thread(target=painter, args=(window, widths)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert widths == [10], widths


main()
