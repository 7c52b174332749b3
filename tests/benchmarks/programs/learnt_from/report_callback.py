"""Reports that a clerk writes on demand; each is also filed, so that it can be sent again."""

import queue
import threading
from concurrent.futures import Future


class Office:
    def __init__(self):
        self.orders = queue.Queue()
        self.lock = threading.Lock()
        self.files = {}
        self.sent = []

    def order(self, topic):
        report = Future()
        report.add_done_callback(self.file)
        self.orders.put((topic, report))
        return report

    def file(self, report):
        topic, text = report.result()
        with self.lock:
            self.files[topic] = text

    def send_again(self, topic):
        with self.lock:
            self.sent.append(self.files.get(topic))

    def write(self, count):
        for _ in range(count):
            topic, report = self.orders.get()
            report.set_result((topic, f"All about {topic}."))


def make():
    return Office()


def clerk(office):
    office.write(3)


def customer(*topics):
    def run(office):
        for topic in topics:
            report = office.order(topic)
            report.result()
            office.send_again(topic)

    return run


WORKERS = (customer("sales"), clerk, customer("costs", "staff"))


def holds(office):
    return len(office.sent) == 3 and all(office.sent)


def tell(office):
    return f"sent {office.sent}, files {office.files}"


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
