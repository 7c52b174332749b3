"""A crawler: two threads follow links, a third waits until nothing is left to visit and then sends them home."""

import queue
import threading

SITE = {
    "/": ("redirect", "/home"),
    "/home": ("page", "/news", "/shop"),
    "/news": ("page", "/news/1", "/home"),
    "/news/1": ("page", "/shop"),
    "/shop": ("page", "/home", "/cart"),
    "/cart": ("page",),
}
CRAWLERS = 2


class Crawler:
    def __init__(self):
        self.lock = threading.Lock()
        self.urls = queue.Queue()
        self.seen = set()
        self.pages = []
        self.add("/")

    def add(self, url):
        with self.lock:
            if url in self.seen:
                return
            self.seen.add(url)
        self.urls.put(url)

    def visit(self, url):
        kind, *links = SITE[url]
        if kind == "redirect":
            self.urls.task_done()
            self.add(links[0])
            return
        for link in links:
            self.add(link)
        self.pages.append(url)
        self.urls.task_done()

    def crawl(self):
        while True:
            url = self.urls.get()
            if url is None:
                return
            self.visit(url)

    def finish(self):
        self.urls.join()
        for _ in range(CRAWLERS):
            self.urls.put(None)


def make():
    return Crawler()


def crawl(crawler):
    crawler.crawl()


def finish(crawler):
    crawler.finish()


WORKERS = (crawl, crawl, finish)


def holds(crawler):
    return len(crawler.pages) == len(SITE) - 1


def tell(crawler):
    return f"pages {crawler.pages}"


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
