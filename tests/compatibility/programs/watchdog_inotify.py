"""The same with the kernel's own notices, which a thread reads from a descriptor."""

import queue
import tempfile
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer


class Handler(FileSystemEventHandler):
    def on_any_event(self, event: FileSystemEvent) -> None:
        if not event.is_directory:
            seen.put((event.event_type, Path(event.src_path).name))


def wait_for(kind: str, name: str) -> None:
    while seen.get(timeout=60) != (kind, name):
        pass


seen: "queue.Queue[tuple[str, str]]" = queue.Queue()
with tempfile.TemporaryDirectory() as folder:
    observer = Observer()
    observer.schedule(Handler(), folder)
    observer.start()
    path = Path(folder, "file")
    path.write_text("one")
    wait_for("created", "file")
    path.unlink()
    wait_for("deleted", "file")
    observer.stop()
    observer.join()
