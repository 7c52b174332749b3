"""Small programs that write the same under every schedule: locks, queues, pools, and the life of threads."""

from __future__ import annotations

SYNCHRONISING = {
    "lock": """
        import threading
        def work():
            for _ in range(3):
                with lock:
                    global total
                    before = total
                    total = before + 1
        lock, total = threading.Lock(), 0
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(total, lock.locked())
        """,
    "lock by hand": """
        import threading
        lock = threading.Lock()
        print(lock.acquire(), lock.acquire(False), lock.acquire(blocking=False), lock.acquire(timeout=0.5))
        lock.release()
        try:
            lock.release()
        except RuntimeError as error:
            print(error)
        for arguments in ((False, 1), (True, -2), (True, 1e10)):
            try:
                lock.acquire(*arguments)
            except (ValueError, OverflowError) as error:
                print(type(error).__name__)
        thread = threading.Thread(target=lock.acquire)
        thread.start()
        thread.join()
        print(lock.locked())
        lock.release()
        print(lock.locked(), isinstance(lock, type(threading.Lock())))
        """,
    "rlock": """
        import threading
        lock, log = threading.RLock(), []
        def work(number):
            with lock:
                with lock:
                    log.append(number)
                    log.append(number)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(all(log[i] == log[i + 1] for i in (0, 2, 4)))
        try:
            lock.release()
        except RuntimeError as error:
            print(error)
        other = []
        with lock:
            thread = threading.Thread(target=lambda: other.append(lock.acquire(timeout=1)))
            thread.start()
            thread.join()
        print(other)
        """,
    "rlock with arguments": """
        import _thread, threading, warnings
        warnings.simplefilter("ignore")
        class Own(type(threading.RLock())):
            def __init__(self, name):
                self.name = name
        class Plain(type(threading.RLock())):
            pass
        for make in (threading.RLock, _thread.RLock, Plain):
            for arguments, named in (((1,), {}), ((), {"x": 1})):
                try:
                    make(*arguments, **named).release
                except TypeError as error:
                    print(type(error).__name__)
                else:
                    print("made")
        thread = threading.Thread(target=Own("n").acquire)
        thread.start()
        thread.join()
        """,
    "condition": """
        import threading
        condition, items, got = threading.Condition(), [], []
        def consume():
            with condition:
                condition.wait_for(lambda: items)
                got.append(items.pop())
        threads = [threading.Thread(target=consume) for _ in range(3)]
        for thread in threads: thread.start()
        for number in range(3):
            with condition:
                items.append(number)
                condition.notify()
        for thread in threads: thread.join()
        print(sorted(got))
        with condition:
            print(condition.wait(timeout=3600))
            condition.notify_all()
        """,
    "condition on rlock": """
        import threading
        lock = threading.RLock()
        condition, ready = threading.Condition(lock), []
        def wait():
            with lock, condition:
                while not ready:
                    condition.wait()
            print("woken")
        thread = threading.Thread(target=wait)
        thread.start()
        with condition:
            ready.append(1)
            condition.notify_all()
        thread.join()
        """,
    "semaphore": """
        import threading
        semaphore, inside, most = threading.BoundedSemaphore(2), [], []
        def work():
            with semaphore:
                inside.append(1)
                most.append(len(inside))
                inside.pop()
        threads = [threading.Thread(target=work) for _ in range(5)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(max(most) <= 2, semaphore.acquire(timeout=1), semaphore.acquire(), semaphore.acquire(timeout=1))
        semaphore.release(2)
        try:
            semaphore.release()
        except ValueError as error:
            print(error)
        """,
    "event": """
        import threading
        event = threading.Event()
        print(event.wait(0.01), event.is_set())
        thread = threading.Thread(target=lambda: print(event.wait(), event.wait(5)))
        thread.start()
        event.set()
        thread.join()
        event.clear()
        print(event.is_set())
        """,
    "barrier": """
        import threading
        barrier, log = threading.Barrier(3, action=lambda: log.append("all")), []
        def work():
            log.append("before")
            barrier.wait()
            log.append("after")
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(*log)
        try:
            barrier.wait(timeout=2)
        except threading.BrokenBarrierError:
            print("broken", barrier.broken)
        """,
    "timer": """
        import threading, time
        log = []
        timers = [threading.Timer(seconds, log.append, (seconds,)) for seconds in (300, 100, 200)]
        cancelled = threading.Timer(150, log.append, ("cancelled",))
        for timer in [*timers, cancelled]: timer.start()
        cancelled.cancel()
        for timer in timers: timer.join()
        print(log)
        """,
    "queue": """
        import queue, threading
        jobs, results = queue.Queue(2), queue.Queue()
        def work():
            while (job := jobs.get()) is not None:
                results.put(job * job)
                jobs.task_done()
            jobs.task_done()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for number in range(5): jobs.put(number)
        jobs.join()
        for _ in threads: jobs.put(None)
        for thread in threads: thread.join()
        print(sorted(results.get() for _ in range(5)))
        for call in (lambda: results.get(timeout=100), results.get_nowait):
            try:
                call()
            except queue.Empty:
                print("empty")
        jobs.put(1), jobs.put(2)
        try:
            jobs.put(3, timeout=100)
        except queue.Full:
            print("full")
        """,
    "other queues": """
        import queue, threading
        for kind in (queue.SimpleQueue, queue.LifoQueue, queue.PriorityQueue):
            box, got = kind(), []
            thread = threading.Thread(target=lambda: got.extend(box.get() for _ in range(3)))
            for number in (2, 3, 1): box.put(number)
            thread.start()
            thread.join()
            print(kind.__name__.strip("_").removeprefix("Py"), got, box.empty())
            waiting = threading.Thread(target=lambda: print(box.get()))
            waiting.start()
            box.put(7)
            waiting.join()
        """,
    "SimpleQueue": """
        import _queue, queue, threading
        class Own(queue.SimpleQueue):
            pass
        for kind in (queue.SimpleQueue, _queue.SimpleQueue, Own, queue._PySimpleQueue):
            items, got = kind(), []
            def consume():
                while (item := items.get()) is not None:
                    got.append(item)
            threads = [threading.Thread(target=consume) for _ in range(2)]
            for thread in threads: thread.start()
            for number in range(6): items.put(number)
            for _ in threads: items.put(None)
            for thread in threads: thread.join()
            print(sorted(got), items.empty(), items.qsize())
            for arguments in ((False,), (True, 0.01)):
                try:
                    items.get(*arguments)
                except queue.Empty:
                    print("empty")
            for timeout in (-1, 1e99):
                try:
                    items.get(timeout=timeout)
                except (ValueError, OverflowError) as error:
                    print(type(error).__name__)
        print(queue.SimpleQueue.__name__, queue.SimpleQueue.__module__, queue.SimpleQueue[int])
        """,
    "types of locks": """
        import _thread, threading
        for lock in (threading.Lock(), threading.RLock(), _thread.allocate_lock()):
            kind = type(lock)
            print(kind.__name__, kind.__qualname__, kind.__module__, kind, repr(lock).rsplit(" at ", 1)[0])
            for attempt in (lambda: type("Own", (kind,), {}), kind):
                try:
                    attempt()
                    print("fine")
                except TypeError as error:
                    print(error)
        print(type(threading.Lock()) is _thread.LockType)
        """,
    "thread pool": """
        from concurrent.futures import ThreadPoolExecutor, as_completed, wait
        def work(number):
            if number == 3:
                raise ValueError(f"no {number}")
            return number * 2
        with ThreadPoolExecutor(3) as pool:
            print(list(pool.map(work, [1, 2, 4])))
            futures = [pool.submit(work, number) for number in range(5)]
            print(sorted(str(future.exception() or future.result()) for future in as_completed(futures)))
            print(len(wait(futures).done))
        try:
            pool.submit(work, 1)
        except RuntimeError as error:
            print(error)
        pool = ThreadPoolExecutor(1)
        future = pool.submit(work, 3)
        pool.shutdown(wait=False, cancel_futures=False)
        try:
            future.result(timeout=5)
        except ValueError as error:
            print(error)
        """,
    "a pool that nobody shuts down": """
        from concurrent.futures import ThreadPoolExecutor
        pool = ThreadPoolExecutor(2)
        print(pool.submit(pow, 2, 3).result())
        """,
    "multiprocessing.pool.ThreadPool": """
        from multiprocessing.pool import ThreadPool
        with ThreadPool(3) as pool:
            print(pool.map(abs, range(-3, 3)), pool.apply(pow, (2, 5)))
            result = pool.apply_async(int, ("x",))
            try:
                result.get(timeout=10)
            except ValueError as error:
                print(error)
            print(sorted(pool.imap_unordered(abs, [-1, -2])))
        """,
    "daemon threads at exit": """
        import threading, time
        def forever():
            while True:
                time.sleep(1)
        def stuck():
            threading.Event().wait()
        for target in (forever, stuck):
            threading.Thread(target=target, daemon=True).start()
        print("end")
        """,
    "a daemon thread that holds a lock at exit": """
        import atexit, threading
        lock, held = threading.Lock(), threading.Event()
        def hold():
            with lock:
                held.set()
                threading.Event().wait()
        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        atexit.register(lambda: print("at exit", lock.locked()))
        """,
    "threading.local": """
        import threading
        local, log = threading.local(), []
        def work(number):
            local.value = number
            log.append(hasattr(local, "other"))
            local.other = 1
            log.append(local.value == number)
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(log), hasattr(local, "value"))
        """,
    "join with a time-out": """
        import threading
        go = threading.Event()
        thread = threading.Thread(target=go.wait)
        thread.start()
        thread.join(timeout=60)
        print(thread.is_alive())
        go.set()
        thread.join()
        print(thread.is_alive())
        try:
            threading.current_thread().join()
        except RuntimeError as error:
            print(error)
        """,
    "_thread": """
        import _thread, threading, time
        done = _thread.allocate_lock()
        done.acquire()
        def work(a, *, b):
            print(a, b)
            done.release()
        identity = _thread.start_new_thread(work, (1,), {"b": 2})
        with done: pass
        print(isinstance(identity, int))
        _thread.start_new_thread(_thread.exit, ())
        for bad in ((1, ()), (work, []), (work, (), 1)):
            try:
                _thread.start_new_thread(*bad)
            except TypeError as error:
                print(error)
        """,
    "sys.exit in a thread": """
        import sys, threading
        thread = threading.Thread(target=sys.exit, args=(5,))
        thread.start()
        thread.join()
        print(thread.is_alive())
        """,
    "logging": """
        import logging, sys, threading
        logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
        def work(number):
            for _ in range(2): logging.info("a line")
        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
}
