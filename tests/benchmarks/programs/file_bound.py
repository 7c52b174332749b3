"""I/O-bound on files: two threads; each round writes a file of 64 kB, reads it back and compares its checksum."""

import sys
import tempfile
import threading
import zlib
from pathlib import Path


def work(folder, name, rounds):
    block = bytes(range(256)) * 256
    path = folder / name
    for number in range(rounds):
        data = number.to_bytes(4, "big") + block
        with open(path, "wb") as file:
            file.write(data)
        with open(path, "rb") as file:
            assert zlib.crc32(file.read()) == zlib.crc32(data)


with tempfile.TemporaryDirectory() as folder:
    threads = [threading.Thread(target=work, args=(Path(folder), name, int(sys.argv[1]))) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
