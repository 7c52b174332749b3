"""Players pick a name that nobody has; a message goes to whoever has the name."""

import threading


class Server:
    def __init__(self):
        self.players = {}
        self.inbox = {}

    def join(self, name, secret):
        if self.players.get(name) is None:
            self.inbox[name] = []
            self.players[name] = secret
            return True
        return False

    def read(self, name, secret):
        if self.players[name] != secret:
            raise PermissionError(name)
        return self.inbox[name]


def play(server, secret):
    name = "max"
    while not server.join(name, secret):
        name += "x"
    server.inbox[name].append("welcome")
    server.read(name, secret)


def main():
    server = Server()
    players = [threading.Thread(target=play, args=(server, secret)) for secret in (11, 22)]
    for one in players:
        one.start()
    for one in players:
        one.join()


main()
