"""Lines buffered by a writer and written out by a flusher that takes the whole buffer."""

import threading


class Writer:
    def __init__(self):
        self.buffer = []
        self.written = []
        self.writing = threading.Lock()

    def render(self, level, text):
        return f"{level.upper()}: {text}"

    def log(self, level, text):
        self.buffer.append(self.render(level, text))

    def flush(self):
        with self.writing:
            batch, self.buffer = self.buffer, []
            self.written.extend(batch)


def make():
    return Writer()


def serve(writer):
    for number in range(6):
        writer.log("info", f"request {number}")


def flush(writer):
    for _ in range(2):
        writer.flush()


WORKERS = (serve, flush)


def holds(writer):
    return len(writer.written) + len(writer.buffer) == 6


def tell(writer):
    return f"written {writer.written}, buffered {writer.buffer}"


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
