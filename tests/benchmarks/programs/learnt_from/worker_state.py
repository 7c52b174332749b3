"""Jobs given to idle workers while idle workers are sent home."""

import threading


class Worker:
    def __init__(self, name):
        self.name = name
        self.state = "idle"
        self.jobs = []
        self.at_home = False


class Crew:
    def __init__(self):
        self.workers = [Worker(name) for name in ("ann", "bob", "cleo")]

    def assign(self, job):
        for worker in self.workers:
            if worker.state == "idle":
                worker.jobs.append(job)
                worker.state = "busy"
                return worker

    def thin_out(self):
        for worker in reversed(self.workers[1:]):
            if worker.state == "idle":
                worker.state = "leaving"
                worker.at_home = True


def plan(hours):
    rest = hours
    steps = []
    while rest > 0:
        steps.append(min(rest, 3))
        rest -= 3
    return steps


def make():
    return Crew()


def assign(crew):
    for name in ("roof", "wall"):
        plan(5)
        crew.assign(name)
    plan(4)


def thin_out(crew):
    plan(6)
    crew.thin_out()


WORKERS = (assign, thin_out)


def holds(crew):
    return not any(worker.jobs and worker.at_home for worker in crew.workers)


def tell(crew):
    return f"workers {[(worker.name, worker.jobs, worker.at_home) for worker in crew.workers]}"


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
