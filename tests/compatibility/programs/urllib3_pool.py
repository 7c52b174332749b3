"""Four threads share two connections to a server in the same program."""

import http.server
import threading

import urllib3


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def work(number: int) -> None:
    for step in range(2):
        answer = pool.request("GET", f"/{number}/{step}", retries=False, timeout=60)
        answers.append(answer.data.decode())


answers: "list[str]" = []
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    pool = urllib3.HTTPConnectionPool("127.0.0.1", server.server_address[1], maxsize=2, block=True)
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pool.num_connections <= 2, pool.num_connections
    pool.close()
    server.shutdown()
    serving.join()
assert sorted(answers) == sorted(f"/{number}/{step}" for number in range(4) for step in range(2)), answers
