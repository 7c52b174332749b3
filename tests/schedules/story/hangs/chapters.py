"""A report whose chapters are written by the pool that the report itself runs in; it takes them as they are done."""

from concurrent.futures import ThreadPoolExecutor, as_completed


class Builder:
    def __init__(self, workers):
        self.pool = ThreadPoolExecutor(workers)

    def chapter(self, title):
        return f"# {title}"

    def report(self, titles):
        futures = [self.pool.submit(self.chapter, title) for title in titles]
        return [future.result() for future in as_completed(futures)]


def main():
    builder = Builder(2)
    reports = [builder.pool.submit(builder.report, titles) for titles in (["north", "south"], ["rent"])]
    for report in reports:
        print(report.result())


main()
