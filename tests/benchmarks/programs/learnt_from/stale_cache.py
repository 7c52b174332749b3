"""Articles in a database with a cache in front; who changes an article drops it from the cache."""

import threading


class Database:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = {1: "draft", 2: "draft", 3: "final"}

    def read(self, key):
        with self.lock:
            return self.rows[key]

    def write(self, key, value):
        with self.lock:
            self.rows[key] = value


class Cache:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {}

    def get(self, key):
        with self.lock:
            return self.values.get(key)

    def put(self, key, value):
        with self.lock:
            self.values[key] = value

    def drop(self, key):
        with self.lock:
            self.values.pop(key, None)


class Articles:
    def __init__(self):
        self.database = Database()
        self.cache = Cache()

    def read(self, key):
        text = self.cache.get(key)
        if text is None:
            text = self.database.read(key)
            self.cache.put(key, text)
        return text

    def write(self, key, text):
        self.database.write(key, text)
        self.cache.drop(key)


def make():
    return Articles()


def visitor(*keys):
    def run(articles):
        for key in keys:
            articles.read(key)

    return run


def author(articles):
    for key, text in ((3, "revised"), (1, "edited")):
        articles.write(key, text)


WORKERS = (visitor(2, 3), author, visitor(3, 1))


def holds(articles):
    return all(articles.database.rows[key] == text for key, text in articles.cache.values.items())


def tell(articles):
    return f"rows {articles.database.rows}, cache {articles.cache.values}"


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
