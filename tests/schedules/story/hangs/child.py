"""Waits for a child's end before reading what it wrote; a long answer fills the pipe and the child never ends."""

import subprocess
import sys
import threading

CODE = "import sys; sys.stdout.write('x' * int(sys.argv[1]))"


class Job:
    def __init__(self):
        self.size = 10
        self.output = b""

    def enlarge(self):
        self.size = 200_000

    def run(self):
        child = subprocess.Popen([sys.executable, "-S", "-c", CODE, str(self.size)], stdout=subprocess.PIPE)
        child.wait()
        self.output = child.stdout.read()


def main():
    job = Job()
    runner = threading.Thread(target=job.run, name="runner")
    other = threading.Thread(target=job.enlarge, name="other")
    other.start()
    runner.start()
    runner.join()
    other.join()
    print(len(job.output))


main()
