"""Three players meet at a barrier in each round; one may leave the game before the second."""

import threading

PLAYERS = 3
start_line = threading.Barrier(PLAYERS)
out = set()


class Player:
    def __init__(self, name, rival):
        self.name = name
        self.rival = rival
        self.points = 0

    def play(self):
        for number in range(2):
            if self.name in out:
                return
            start_line.wait()
            self.points += 1
            if number == 0 and self.points == 1 and self.rival:
                out.add(self.rival)


def main():
    players = [Player("ada", "bob"), Player("bob", None), Player("cem", None)]
    threads = [threading.Thread(target=player.play, name=player.name) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print([player.points for player in players])


main()
