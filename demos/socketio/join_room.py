"""Two clients connect to a Socket.IO server at the same time, and each enters the lobby."""

import threading

import socketio

manager = socketio.Server(async_mode="threading").manager


def join(client: str) -> None:
    session = manager.connect(client, "/chat")
    manager.enter_room(session, "/chat", "lobby")


clients = ["alice", "bob"]
threads = [threading.Thread(target=join, args=(client,)) for client in clients]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

present = sorted(client for _, client in manager.get_participants("/chat", "lobby"))
assert present == clients, f"in the lobby: {present}"
