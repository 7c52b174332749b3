"""The configuration is read by the workers; a reload empties it for a moment."""

import threading

settings = {"mode": "fast", "level": 3}


def reload(text):
    settings.clear()
    for pair in text.split():
        name, value = pair.split("=")
        settings[name] = value


def worker(results):
    mode = settings.get("mode")
    level = settings.get("level")
    results.append((mode, level))


def main():
    results = []
    threads = [
        threading.Thread(target=reload, args=("mode=slow level=5",)),
        threading.Thread(target=worker, args=(results,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in results[0], results


main()
