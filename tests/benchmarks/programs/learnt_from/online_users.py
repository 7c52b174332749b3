"""Who is in a game: players come and go, a server now and then makes a list of those who wait."""

import threading


class Lobby:
    def __init__(self):
        self.lock = threading.Lock()
        self.players = {"tom": "playing", "ina": "waiting"}

    def join(self, name):
        with self.lock:
            self.players[name] = "waiting"

    def leave(self, name):
        with self.lock:
            self.players.pop(name, None)

    def start(self, name):
        with self.lock:
            if name in self.players:
                self.players[name] = "playing"

    def waiting(self):
        names = []
        for name, state in self.players.items():
            if state == "waiting":
                names.append(name)
        return sorted(names)


class Game:
    def __init__(self):
        self.lobby = Lobby()
        self.lists = []

    def publish(self):
        self.lists.append(self.lobby.waiting())


def make():
    return Game()


def server(game):
    game.publish()
    game.publish()


def player(name):
    def run(game):
        game.lobby.join(name)
        game.lobby.start(name)
        game.lobby.leave(name)

    return run


WORKERS = (player("leo"), server, player("mia"))


def holds(game):
    return len(game.lists) == 2 and set(game.lobby.players) == {"tom", "ina"}


def tell(game):
    return f"lists {game.lists}, players {game.lobby.players}"


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
