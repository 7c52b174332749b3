"""Threads and coroutines meet at one queue."""

import asyncio
import threading

import janus


async def main() -> None:
    queue: janus.Queue[int] = janus.Queue(maxsize=2)

    def produce(start: int) -> None:
        for number in range(start, start + 4):
            queue.sync_q.put(number)

    threads = [threading.Thread(target=produce, args=(start,)) for start in (0, 100)]
    for thread in threads:
        thread.start()
    got = [await queue.async_q.get() for _ in range(8)]
    loop = asyncio.get_running_loop()
    lengths = await asyncio.gather(*(loop.run_in_executor(None, len, got) for _ in range(3)))
    assert lengths == [8, 8, 8]
    assert sorted(got) == [0, 1, 2, 3, 100, 101, 102, 103], got
    for thread in threads:
        await asyncio.to_thread(thread.join)
    await queue.aclose()


asyncio.run(main())
