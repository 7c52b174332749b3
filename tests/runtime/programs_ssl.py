"""Small programs whose threads talk through TLS; each writes the same under every schedule.

``localhost.pem`` is a certificate for this machine with its key, made for these tests, and valid until 2126.
"""

from __future__ import annotations

from pathlib import Path

CERTIFICATE = Path(__file__).with_name("localhost.pem")

# Each program starts a thread before anything else, so that it can be forked there.
_FIRST = f"""
import threading
first = threading.Thread(target=int)
first.start()
first.join()
import socket, ssl
server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
server_side.load_cert_chain({str(CERTIFICATE)!r})
client_side = ssl.create_default_context(cafile={str(CERTIFICATE)!r})
def run(*threads):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def threads_of(function, amount):
    return [threading.Thread(target=function, args=(number,)) for number in range(amount)]
def serving(sock):
    return server_side.wrap_socket(sock, server_side=True)
def asking(sock, **named):
    return client_side.wrap_socket(sock, server_hostname="localhost", **named)
def both(serve, ask, **named):
    own, other = socket.socketpair()
    def first():
        with serving(own) as connection: serve(connection)
    def second():
        with asking(other, **named) as connection: ask(connection)
    run(threading.Thread(target=first), threading.Thread(target=second))
"""

_PROGRAMS = {
    "two threads over loopback": """
def serve():
    for _ in range(2):
        connection, _ = listener.accept()
        with serving(connection) as connection, connection.makefile("rwb") as file:
            for line in file:
                file.write(line.upper())
                file.flush()
def ask(number):
    with asking(socket.create_connection(listener.getsockname(), timeout=30)) as connection:
        connection.sendall(b"hello %d\\n" % number)
        answers.append((connection.recv(100), connection.version(), len(connection.getpeercert()["subjectAltName"])))
answers = []
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), *threads_of(ask, 2))
listener.close()
print(sorted(answers))
""",
    "a listener that speaks TLS, and TLS 1.2": """
def serve():
    for _ in range(2):
        connection, _ = listener.accept()
        with connection:
            connection.sendall(connection.recv(100)[::-1])
            connection.unwrap().close()
def ask(number):
    connection = asking(socket.socket())
    connection.connect(listener.getsockname())
    connection.sendall(b"abc%d" % number)
    answers.append((connection.recv(2), connection.pending(), connection.read(), connection.version()))
    plain = connection.unwrap()
    answers.append((plain.recv(1), connection.session_reused))
    plain.close()
answers = []
client_side.maximum_version = ssl.TLSVersion.TLSv1_2
listener = serving(socket.create_server(("127.0.0.1", 0)))
run(threading.Thread(target=serve), *threads_of(ask, 2))
listener.close()
print(sorted(answers, key=str))
""",
    "more than there is room for": """
amount = 700_000
def serve(connection):
    got = bytearray()
    while len(got) < amount: got += connection.recv(5000)
    connection.sendall(b"all")
    answers.append((len(got), got.count(b"b")))
def ask(connection):
    connection.sendall(b"ab" * (amount // 2))
    answers.append(connection.recv(5))
answers = []
both(serve, ask)
print(sorted(answers, key=str))
""",
    "time-outs": """
def connect():
    return socket.create_connection(listener.getsockname())
def told(call):
    try:
        call()
    except TimeoutError as error:
        texts.append(str(error))
    else:
        texts.append("no time-out")
def serve():
    for agree in (lambda sock: sock, serving, serving):
        with agree(listener.accept()[0]): turns.acquire()
def ask():
    with connect() as connection:
        connection.settimeout(0.5)
        told(lambda: asking(connection))
    turns.release()
    with asking(connect()) as connection:
        connection.settimeout(0.5)
        told(lambda: connection.recv(1))
        told(connection.unwrap)
    turns.release()
    with asking(connect()) as connection:
        connection.settimeout(0.5)
        told(lambda: connection.sendall(bytes(50_000_000)))
    turns.release()
texts, turns = [], threading.Semaphore(0)
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), threading.Thread(target=ask))
listener.close()
print(*texts, sep="\\n")
""",
    "http.server with urllib": """
import http.server, urllib.error, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.path == "/no":
            self.send_error(404)
            return
        body = self.path.encode() * 10_000
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
def get(path):
    try:
        url = f"https://localhost:{server.server_port}{path}"
        with urllib.request.urlopen(url, context=client_side, timeout=50) as response:
            answers.append((response.status, len(response.read())))
    except urllib.error.HTTPError as error:
        with error:
            answers.append((error.code, 0))
answers = []
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.socket = serving(server.socket)
serving_thread = threading.Thread(target=server.serve_forever)
serving_thread.start()
run(*[threading.Thread(target=get, args=(path,)) for path in ("/one", "/no")])
server.shutdown()
server.server_close()
serving_thread.join()
print(sorted(answers))
""",
    "sockets that do not block": """
import select
def wait_for(connection, call):
    while True:
        try:
            return call()
        except ssl.SSLWantReadError:
            select.select([connection], [], [])
        except ssl.SSLWantWriteError:
            select.select([], [connection], [])
def serve():
    with listener.accept()[0] as plain:
        plain.setblocking(False)
        with server_side.wrap_socket(plain, server_side=True, do_handshake_on_connect=False) as connection:
            wait_for(connection, connection.do_handshake)
            while data := wait_for(connection, lambda: connection.recv(8)):
                wait_for(connection, lambda: connection.send(data.upper()))
def ask():
    with asking(socket.create_connection(listener.getsockname()), do_handshake_on_connect=False) as connection:
        connection.setblocking(False)
        wait_for(connection, connection.do_handshake)
        for word in (b"one", b"two"):
            wait_for(connection, lambda: connection.send(word))
            answers.append(wait_for(connection, lambda: connection.recv(10)))
answers = []
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), threading.Thread(target=ask))
listener.close()
print(answers)
""",
    "a certificate that nobody knows, and no TLS at all": """
import contextlib
def serve():
    for _ in range(2):
        try:
            with serving(listener.accept()[0]): pass
        except (ssl.SSLError, ConnectionError) as error:
            problems.append(type(error).__name__)
def distrust():
    try:
        ssl.create_default_context().wrap_socket(connect(), server_hostname="localhost")
    except ssl.SSLCertVerificationError as error:
        problems.append(error.verify_message)
def chat():
    with connect() as connection, contextlib.suppress(ConnectionError):
        connection.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
        while connection.recv(100): pass
def connect():
    return socket.create_connection(listener.getsockname())
problems = []
listener = socket.create_server(("127.0.0.1", 0))
run(threading.Thread(target=serve), threading.Thread(target=distrust), threading.Thread(target=chat))
listener.close()
print(sorted(problems))
""",
    "reads after the end": """
def read_on(connection):
    got = [connection.recv(10), connection.recv_into(bytearray(5))]
    got += [connection.recv(0), connection.recv_into(bytearray())]
    connection.settimeout(0.5)
    got.append(connection.recv(10))
    connection.setblocking(False)
    answers.append((*got, connection.recv(10), connection.pending()))
    connection.setblocking(True)
    connection.unwrap()
def read_lines(connection):
    with connection.makefile("rwb") as file: answers.append((*file, file.read()))
    connection.unwrap()
def end(connection):
    connection.sendall(b"one\\ntwo")
    connection.unwrap()
answers = []
both(read_on, lambda connection: connection.unwrap())
both(read_lines, end)
print(*answers, sep="\\n")
""",
    "reads after an end without a word": """
def read_on(connection):
    for _ in range(2):
        try:
            answers.append(connection.recv(10))
        except (ssl.SSLEOFError, BrokenPipeError) as error:
            # OpenSSL 3.6 tells the other side of such an end, which nobody reads any more.
            answers.append(getattr(error, "reason", "broken pipe"))
def drop(connection):
    with socket.socket(fileno=connection.detach()): pass
answers = []
for suppress in (True, False):
    both(drop, read_on, suppress_ragged_eofs=suppress)
print(answers)
""",
    "reads after an alert, while the other side keeps the connection": """
def distrust(sock):
    with server_side.wrap_socket(sock, server_side=True, do_handshake_on_connect=False) as connection:
        try:
            connection.do_handshake()
        except ssl.SSLError as error:
            print(error.reason)
        turns.acquire()
def read_on(sock):
    with asking(sock) as connection:
        for _ in range(3):
            try:
                answers.append(connection.recv(10))
            except ssl.SSLError as error:
                answers.append(error.reason)
        turns.release()
answers, turns = [], threading.Semaphore(0)
server_side.verify_mode = ssl.CERT_REQUIRED
own, other = socket.socketpair()
run(threading.Thread(target=distrust, args=(own,)), threading.Thread(target=read_on, args=(other,)))
print(answers)
""",
    "a server chosen by name": """
def choose(connection, name, context):
    with lock: names.append(name)
    connection.context = chosen
def serve(connection):
    answers.append(connection.context is chosen)
    connection.sendall(b"hello")
def ask(connection):
    answers.append(connection.recv(10))
chosen = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
chosen.load_cert_chain(PEM)
server_side.sni_callback = choose
lock, names, answers = threading.Lock(), [], []
both(serve, ask)
print(names, sorted(answers, key=str))
""",
}

TLS = {name: _FIRST + program.replace("PEM", repr(str(CERTIFICATE))) for name, program in _PROGRAMS.items()}

# Without us this breaks now and then: the interpreter lets both threads into OpenSSL, which is not made for that.
ONE_READS_WHILE_ANOTHER_WRITES = (
    _FIRST
    + """
def echo(connection):
    buffer = bytearray(7)
    try:
        while amount := connection.recv_into(buffer):
            connection.sendall(memoryview(buffer)[:amount])
    except BrokenPipeError:
        pass  # as above: the other side is gone
def talk(connection):
    def read():
        while sum(map(len, got)) < 90: got.append(connection.recv(50))
    def write():
        for number in range(9): connection.send(b"%d" % number * 10)
    run(threading.Thread(target=read), threading.Thread(target=write))
got = []
both(echo, talk)
print(b"".join(got))
"""
)
