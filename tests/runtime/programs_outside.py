"""Small programs whose threads talk through sockets, pipes, files, databases and child processes.

Each writes the same under every schedule. Each starts a thread before anything else, so that it can be forked there.
"""

from __future__ import annotations

_FIRST = "import threading\nfirst = threading.Thread(target=int)\nfirst.start()\nfirst.join()\n"

_THREADS = """
def run(*threads):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def threads_of(function, amount):
    return [threading.Thread(target=function, args=(number,)) for number in range(amount)]
"""

_PROGRAMS = {
    "messages written to a descriptor stay whole": """
import os, socket
def write(sock):
    for size in (10, 10_000, 5_000): os.write(sock.fileno(), bytes(size))
    os.writev(sock.fileno(), [bytes(5_000), bytes(3_000)])
def read(sock, sizes):
    sizes.extend(len(sock.recv(100_000)) for _ in range(4))
for kind in (socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    own, other = socket.socketpair(socket.AF_UNIX, kind)
    with own, other:
        sizes = []
        run(threading.Thread(target=read, args=(other, sizes)), threading.Thread(target=write, args=(own,)))
        print(sizes)
""",
    "two threads over loopback": """
import socket
def serve():
    for _ in range(2):
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as file:
            for line in file:
                file.write(line.upper())
                file.flush()
def ask(number):
    with socket.create_connection(listener.getsockname()) as connection:
        connection.sendall(b"hello %d\\n" % number)
        answers.append(connection.recv(100))
answers = []
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), *threads_of(ask, 2))
listener.close()
print(sorted(answers))
""",
    "a descriptor in two lists of select": """
import select, socket
def serve():
    for _ in range(2):
        while not any(found := select.select([listener], [], [listener], 0.001)): pass
        connection, _ = listener.accept()
        with connection: log.append((len(found[0]), len(found[2]), connection.recv(100)))
def ask(number):
    with socket.create_connection(listener.getsockname()) as connection:
        connection.sendall(b"hello %d" % number)
        connection.recv(1)
log = []
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), *threads_of(ask, 2))
listener.close()
print(sorted(log))
""",
    "socketserver with clients": """
import socket, socketserver
class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())
def ask(number):
    with socket.create_connection(server.server_address, timeout=5) as connection:
        connection.sendall(b"a%d\\nb\\n" % number)
        connection.shutdown(socket.SHUT_WR)
        answers.append(b"".join(iter(lambda: connection.recv(3), b"")))
answers = []
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
serving = threading.Thread(target=server.serve_forever)
serving.start()
run(*threads_of(ask, 2))
server.shutdown()
server.server_close()
serving.join()
print(sorted(answers))
""",
    "http.server with urllib": """
import http.server, urllib.error, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/no":
            self.send_error(404)
            return
        body = self.path.encode() * 10
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
def get(path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}{path}") as response:
            answers.append((response.status, len(response.read())))
    except urllib.error.HTTPError as error:
        with error:
            answers.append((error.code, 0))
answers = []
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
serving = threading.Thread(target=server.serve_forever)
serving.start()
run(*[threading.Thread(target=get, args=(path,)) for path in ("/one", "/no")])
server.shutdown()
server.server_close()
serving.join()
print(sorted(answers))
""",
    "selectors": """
import selectors, socket
def serve():
    left = 2
    while left:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                connection.setblocking(False)
                selector.register(connection, selectors.EVENT_READ)
            elif data := key.fileobj.recv(100):
                key.fileobj.sendall(data[::-1])
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                left -= 1
def ask(number):
    with socket.create_connection(listener.getsockname()) as connection:
        connection.sendall(b"abc%d" % number)
        answers.append(connection.recv(100))
answers = []
selector = selectors.DefaultSelector()
listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
selector.register(listener, selectors.EVENT_READ)
run(threading.Thread(target=serve), *threads_of(ask, 2))
selector.close()
listener.close()
print(sorted(answers))
""",
    "datagrams and messages": """
import socket
def read():
    data, address = receiver.recvfrom(100)
    seen.append(data)
    receiver.sendto(data * 2, address)
    seen.append(end.recvmsg(100)[0])
seen = []
receiver = socket.socket(type=socket.SOCK_DGRAM)
receiver.bind(("127.0.0.1", 0))
end, other = socket.socketpair()
thread = threading.Thread(target=read)
thread.start()
with socket.socket(type=socket.SOCK_DGRAM) as sender:
    sender.sendto(b"ping", receiver.getsockname())
    seen.append(sender.recv(100))
other.sendmsg([b"a ", b"message"])
thread.join()
for one in (receiver, end, other): one.close()
print(sorted(seen))
""",
    "more than the buffers hold": """
import socket
def write(number):
    connection = writers[number]
    connection.sendall(b"x" * 1_000_000)
    connection.close()
def read(number):
    total = 0
    while data := readers[number].recv(65536):
        total += len(data)
    totals.append(total)
totals = []
listener = socket.create_server(("127.0.0.1", 0))
one = socket.create_connection(listener.getsockname())
pair = socket.socketpair()
readers, writers = [pair[0], listener.accept()[0]], [pair[1], one]
run(*threads_of(write, 2), *threads_of(read, 2))
for end in (*readers, listener): end.close()
print(totals)
""",
    "more than the buffers hold, in several parts": """
import os, socket, tempfile
def send(number):
    with writers[number] as end:
        if number == 0: sent.append(end.sendmsg([b"x" * 200_000, bytearray(300_000)]))
        elif number == 1: sent.append(end.sendfile(file))
        else: sent.append(os.writev(end.fileno(), [b"y" * 200_000, memoryview(b"z" * 100_000)]))
def read(number):
    total, parts = 0, [bytearray(10_000), bytearray(30_000)]
    while amount := os.readv(readers[number].fileno(), parts): total += amount
    received.append((number, total, parts[0][:1]))
sent, received = [], []
with tempfile.TemporaryFile() as file:
    file.write(b"f" * 500_000)
    readers, writers = zip(*(socket.socketpair() for _ in range(3)))
    run(*threads_of(send, 3), *threads_of(read, 3))
for end in readers: end.close()
print(sorted(sent), sorted(received))
""",
    "flags that say not to wait": """
import socket
def read():
    ready.wait()
    for attempt in (
        lambda: end.recv(9, now),
        lambda: end.recv_into(bytearray(9), 9, now),
        lambda: end.recvfrom(9, now),
        lambda: end.recvfrom_into(bytearray(9), flags=now),
        lambda: end.recvmsg(9, 0, now),
        lambda: end.recvmsg_into([bytearray(9)], 0, now),
        lambda: [end.send(bytes(1000), now) for _ in range(10_000)],
        lambda: end.sendall(b"x", now),
        lambda: end.sendmsg([b"x"], (), now),
        lambda: datagrams.sendto(b"x", now, datagrams.getsockname()),
        lambda: datagrams.recv(9, now),
    ):
        try:
            log.append(attempt())
        except BlockingIOError as error:
            log.append(error.errno)
log, now, ready = [], socket.MSG_DONTWAIT, threading.Event()
end, other = socket.socketpair()
datagrams = socket.socket(type=socket.SOCK_DGRAM)
datagrams.bind(("127.0.0.1", 0))
thread = threading.Thread(target=read)
thread.start()
ready.set()
thread.join()
for one in (end, other, datagrams): one.close()
print(log)
""",
    "urgent data": """
import select, socket
def read():
    connection, _ = listener.accept()
    with connection:
        select.select([], [], [connection])
        seen.append(connection.recv(1, socket.MSG_OOB))
        try:
            connection.recv(1, socket.MSG_OOB)
        except OSError as error:
            seen.append(error.errno)
        seen.append(connection.recv(9))
seen = []
listener = socket.create_server(("127.0.0.1", 0))
thread = threading.Thread(target=read)
thread.start()
with socket.create_connection(listener.getsockname()) as connection:
    connection.send(b"!", socket.MSG_OOB)
    connection.sendall(b"usual")
    thread.join()
listener.close()
print(seen)
""",
    "time-outs of sockets": """
import socket, time
def wait(number):
    start = time.monotonic()
    ends[number].settimeout(100 + number)
    try:
        ends[number].recv(1)
    except TimeoutError as error:
        log.append((number, str(error), time.monotonic() - start > 99))
    ends[number].settimeout(0)
    try:
        ends[number].recv(1)
    except BlockingIOError as error:
        log.append((number, error.errno))
log = []
ends = socket.socketpair()
run(*threads_of(wait, 2))
for end in ends: end.close()
try:
    socket.create_connection(("127.0.0.1", 9), timeout=3)
except ConnectionRefusedError as error:
    print(error)
print(sorted(log, key=str))
""",
    "pipes": """
import os
def read(number):
    while data := os.read(ends[0], 5):
        seen.append(data)
    with os.fdopen(texts[0]) as file:
        seen.extend(line.strip().encode() for line in file)
def write(number):
    for number in range(3):
        os.write(ends[1], b"some-%d" % number)
    os.close(ends[1])
    with os.fdopen(texts[1], "w") as file:
        print("one", "two", sep="\\n", file=file)
seen, ends, texts = [], os.pipe(), os.pipe()
run(*threads_of(read, 1), *threads_of(write, 1))
os.close(ends[0])
print(b"".join(seen))
""",
    "locks on files": """
import fcntl
def add(number):
    for _ in range(2):
        with open("count", "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            value = int(file.read() or 0)
            file.seek(0)
            file.write(str(value + 1))
            file.flush()
open("count", "w").close()
run(*threads_of(add, 3))
with open("count") as file:
    print(file.read())
""",
    "a lock on a file that is closed meanwhile": """
import fcntl, time
def wait():
    fcntl.flock(file, fcntl.LOCK_EX)
    log.append("got it")
log, holder, file = [], open("locked", "w"), open("locked", "w")
fcntl.flock(holder, fcntl.LOCK_EX)
thread = threading.Thread(target=wait)
thread.start()
time.sleep(0.2)
file.close()
fcntl.flock(holder, fcntl.LOCK_UN)
thread.join()
fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
holder.close()
print(log)
""",
    "a C lock around Python code": """
import io, time
class Raw(io.RawIOBase):
    def writable(self):
        return True
    def write(self, data):
        time.sleep(0.01)
        written.append(bytes(data))
        return len(data)
def write(number):
    for _ in range(2):
        file.write(b"%d" % number * 4)
        file.flush()
written = []
file = io.BufferedWriter(Raw(), 4)
run(*threads_of(write, 2))
file.close()
with open(__file__, "rb") as source:
    print(isinstance(source, io.BufferedReader), isinstance(source, io.BufferedWriter), type(file).__name__)
print(sorted(written))
""",
    "child processes": """
import subprocess, time
def talk(number):
    command = "read line; echo $line; echo wrong >&2; exit 3"
    child = subprocess.Popen(
        ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    log.append((*child.communicate(f"hello {number}\\n"), child.returncode))
def wait(number):
    child = subprocess.Popen(["sh", "-c", "echo 1; read line; echo 2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    first = child.stdout.readline()
    try:
        child.wait(timeout=0.01)
    except subprocess.TimeoutExpired:
        first += b"late"
    child.stdin.close()
    log.append((first, child.wait(timeout=60), child.stdout.read()))
    child.stdout.close()
    other = subprocess.Popen(["sleep", "0.02"])
    while other.poll() is None:
        time.sleep(0.01)
    log.append((other.returncode,))
log = []
run(*threads_of(talk, 1), *threads_of(wait, 1))
print(sorted(log, key=str))
""",
}

OUTSIDE = {name: _FIRST + _THREADS + text for name, text in _PROGRAMS.items()}
