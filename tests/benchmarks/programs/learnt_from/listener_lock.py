"""A bus that tells its listeners with its lock held, and a widget that tells the bus with its own held."""

import threading


class Bus:
    def __init__(self):
        self.lock = threading.RLock()
        self.listeners = []

    def publish(self, event):
        with self.lock:
            for listener in self.listeners:
                listener(event)


class Widget:
    def __init__(self, bus):
        self.lock = threading.RLock()
        self.bus = bus
        self.name = "button"
        self.events = []
        bus.listeners.append(self.on_event)

    def on_event(self, event):
        with self.lock:
            self.events.append(event)

    def rename(self, name):
        with self.lock:
            self.name = name
            self.bus.publish(f"renamed {name}")


class Window:
    def __init__(self):
        self.bus = Bus()
        self.widget = Widget(self.bus)


def make():
    return Window()


def rename(window):
    window.widget.rename("ok")


def change_theme(window):
    for theme in ("dark", "light"):
        window.bus.publish(theme)


WORKERS = (rename, change_theme)


def holds(window):
    return sorted(window.widget.events) == ["dark", "light", "renamed ok"]


def tell(window):
    return f"events {window.widget.events}"


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
