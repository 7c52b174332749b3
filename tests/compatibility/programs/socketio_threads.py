"""A server in threading mode: background tasks, rooms and callbacks of two clients that a test stands in for."""

import threading

import socketio


def main() -> None:
    server = socketio.Server(async_mode="threading", async_handlers=True)
    manager = server.manager
    done, results = threading.Semaphore(0), []
    sent = []
    server._send_eio_packet = lambda eio_sid, packet: sent.append((eio_sid, packet.data))

    @server.on("add")
    def add(sid, left, right):
        server.sleep(0.01)
        results.append((sid, left + right))
        done.release()

    clients = [manager.connect(f"eio-{number}", "/") for number in range(2)]
    tasks = []
    for number, sid in enumerate(clients):
        server.enter_room(sid, "all")
        for value in range(3):
            handler = server._handle_event_internal
            data = ["add", value, 10 * number]
            tasks.append(server.start_background_task(handler, server, sid, f"eio-{number}", data, "/", None))
    for _ in tasks:
        assert done.acquire(timeout=60)
    for task in tasks:
        task.join()
    server.emit("told", {"all": True}, room="all")
    assert sorted(total for _, total in results) == [0, 1, 2, 10, 11, 12], results
    assert sorted(eio_sid for eio_sid, _ in sent) == ["eio-0", "eio-1"], sent


main()
