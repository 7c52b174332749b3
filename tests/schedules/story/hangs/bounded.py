"""A stage reads from one bounded queue and writes to the next; the last one stops reading at a bad item."""

import queue
import threading


class Stage:
    def __init__(self, source, target):
        self.source = source
        self.target = target

    def run(self):
        while True:
            item = self.source.get()
            self.target.put(item)
            if item is None:
                return


limit = {"most": 3}


def lower():
    limit["most"] = 1


def sink(source):
    while (item := source.get()) is not None:
        if item > limit["most"]:
            raise ValueError(f"{item} is too large")


def main():
    raw, checked = queue.Queue(), queue.Queue(maxsize=1)
    stage = threading.Thread(target=Stage(raw, checked).run, name="stage")
    end = threading.Thread(target=sink, args=(checked,), name="sink")
    tuner = threading.Thread(target=lower, name="tuner")
    for item in (1, 2, 3, None):
        raw.put(item)
    for thread in (stage, end, tuner):
        thread.start()
    stage.join()
    print("all passed")


main()
