"""An editor that saves a moment after the last word; a timer does so."""

import threading
import time


class AutoSave:
    def __init__(self):
        self.saved = None
        self.pending = None
        self.timer = None

    def trigger(self, text):
        if self.timer is not None:
            self.timer.cancel()
        self.pending = text
        self.timer = threading.Timer(0.05, self.flush)
        self.timer.start()

    def flush(self):
        if self.pending is None:
            return
        self.saved = self.pending
        self.pending = None


saver = AutoSave()
text = ""
for word in ("one ", "two ", "three"):
    text += word
    saver.trigger(text)
    time.sleep(0.05)
time.sleep(1)
saver.timer.join()
assert saver.saved == text, (saver.saved, text)
