"""Users who are idle for too long are logged out by a timer, which each request starts anew."""

import threading
import time

IDLE = 0.03


class Session:
    def __init__(self, user):
        self.user = user
        self.requests = 0
        self.timer = None


class Server:
    def __init__(self):
        self.lock = threading.Lock()
        self.sessions = {}
        self.expired = []

    def start_timer(self, session):
        session.timer = threading.Timer(IDLE, self.expire, (session, session.requests))
        session.timer.daemon = True
        session.timer.start()

    def log_in(self, user):
        session = Session(user)
        with self.lock:
            self.sessions[user] = session
            self.start_timer(session)

    def request(self, user):
        with self.lock:
            session = self.sessions.get(user)
            if session is None:
                return "please log in"
            session.timer.cancel()
            session.requests += 1
            self.start_timer(session)
            return "welcome"

    def log_out(self, user):
        with self.lock:
            session = self.sessions.pop(user, None)
            if session is not None:
                session.timer.cancel()

    def expire(self, session, last_request):
        with self.lock:
            if self.sessions.get(session.user) is session:
                del self.sessions[session.user]
                self.expired.append((session.user, last_request, session.requests))


def make():
    return Server()


def browser(user):
    def run(server):
        server.log_in(user)
        server.request(user)
        time.sleep(IDLE * 2 / 3)
        server.request(user)
        server.log_out(user)

    return run


WORKERS = (browser("ann"), browser("bob"))


def holds(server):
    return all(last_request == requests for _, last_request, requests in server.expired)


def tell(server):
    return f"expired after which request, though so many came: {server.expired}"


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
