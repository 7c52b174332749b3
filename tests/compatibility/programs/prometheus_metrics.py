"""Threads count and observe while another one reads all metrics."""

import threading

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

registry = CollectorRegistry()
requests = Counter("requests", "How many.", ["kind"], registry=registry)
running = Gauge("running", "How many at once.", registry=registry)
seconds = Histogram("seconds", "How long.", buckets=(1, 2, 5), registry=registry)


def work(number: int) -> None:
    for step in range(4):
        with running.track_inprogress():
            requests.labels("even" if step % 2 == 0 else "odd").inc()
            seconds.observe(step)


def read() -> None:
    for _ in range(3):
        assert b"requests_total" in generate_latest(registry)


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
threads.append(threading.Thread(target=read))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert registry.get_sample_value("requests_total", {"kind": "even"}) == 8
assert registry.get_sample_value("seconds_count") == 16
assert registry.get_sample_value("seconds_sum") == 24
assert registry.get_sample_value("running") == 0
