"""A build with a limited number of slots; what several need is made by who asks first."""

import threading


class Build:
    def __init__(self, slots):
        self.slots = threading.Semaphore(slots)
        self.lock = threading.Lock()
        self.made = {}
        self.log = []

    def claim(self, name):
        with self.lock:
            mine = name not in self.made
            if mine:
                self.made[name] = threading.Event()
            return mine, self.made[name]

    def note(self, text):
        with self.lock:
            self.log.append(text)

    def compile(self, name, header):
        with self.slots:
            mine, ready = self.claim(header)
            if mine:
                self.note(f"generate {header}")
                ready.set()
            ready.wait()
            self.note(f"compile {name}")

    def generate(self, header):
        mine, ready = self.claim(header)
        if mine:
            with self.slots:
                self.note(f"generate {header}")
                ready.set()


def make():
    return Build(2)


def compiler(name, header):
    def run(build):
        build.compile(name, header)

    return run


def generator(header):
    def run(build):
        build.generate(header)

    return run


WORKERS = (compiler("main.c", "version.h"), compiler("test.c", "version.h"), generator("version.h"))


def holds(build):
    return sorted(build.log) == ["compile main.c", "compile test.c", "generate version.h"]


def tell(build):
    return f"log {build.log}"


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
