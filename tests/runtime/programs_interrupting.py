"""Small programs that write the same under every schedule: signals, alarms, exceptions from outside, deep stacks."""

from __future__ import annotations

INTERRUPTING = {
    "a signal to oneself": """
        import os, signal, threading
        def note(number, frame):
            log.append((signal.Signals(number).name, threading.current_thread() is threading.main_thread()))
        log = []
        print(signal.signal(signal.SIGUSR1, note) is signal.SIG_DFL, signal.getsignal(signal.SIGUSR1) is note)
        def work():
            os.kill(os.getpid(), signal.SIGUSR1)
            signal.raise_signal(signal.SIGUSR1)
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        work()
        print(log)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print(set(log[3:]))
        print(signal.signal(signal.SIGUSR1, signal.SIG_IGN) is note)
        os.kill(os.getpid(), signal.SIGUSR1)
        print(signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN)
        """,
    "a signal comes while the main thread waits": """
        import os, signal, threading
        class Stop(Exception):
            pass
        def stop(number, frame):
            raise Stop
        signal.signal(signal.SIGUSR1, stop)
        lock, condition, event = threading.Lock(), threading.Condition(), threading.Event()
        lock.acquire()
        condition.acquire()
        ended = threading.Thread(target=event.wait)
        ended.start()
        main = threading.get_ident()
        for wait in (lambda: lock.acquire(timeout=3600), condition.wait, event.wait, ended.join, signal.pause):
            sender = threading.Thread(target=signal.pthread_kill, args=(main, signal.SIGUSR1))
            try:
                sender.start()
                wait()
            except Stop:
                print("stopped")
            sender.join()
        sender = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
        try:
            sender.start()
            lock.acquire()
        except KeyboardInterrupt:
            print("interrupted")
        event.set()
        """,
    "a wait goes on after a signal": """
        import os, signal, threading, time
        signal.signal(signal.SIGUSR1, lambda number, frame: log.append("handled"))
        def work():
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.01)
            log.append("released")
            lock.release()
        log, lock = [], threading.Lock()
        lock.acquire()
        thread = threading.Thread(target=work)
        thread.start()
        lock.acquire()
        thread.join()
        print(sorted(set(log)))
        """,
    "an alarm": """
        import signal, threading, time
        def ring(number, frame):
            raise TimeoutError("ring")
        signal.signal(signal.SIGALRM, ring)
        lock = threading.Lock()
        threading.Thread(target=time.sleep, args=(0.01,)).start()
        lock.acquire()
        signal.alarm(3600)
        print(signal.alarm(3600))
        for wait in (lock.acquire, lambda: time.sleep(5000)):
            signal.setitimer(signal.ITIMER_REAL, 3600)
            try:
                wait()
            except TimeoutError as error:
                print(error, signal.getitimer(signal.ITIMER_REAL), lock.acquire(timeout=100))
        print(signal.setitimer(signal.ITIMER_REAL, 0))
        """,
    "locks at the recursion limit": """
        import threading
        lock, depths = threading.RLock(), []
        def down(depth):
            with lock:
                try:
                    return down(depth + 1)
                except RecursionError:
                    return depth
        def work():
            for _ in range(3):
                depths.append(down(0))
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(all(depth > 200 for depth in depths), len(depths))
        print(lock.acquire(blocking=False))
        """,
    "who computes until another has slept": """
        import threading, time
        done = False
        def work():
            global done
            time.sleep(1)
            done = True
        thread = threading.Thread(target=work)
        thread.start()
        while not done:
            pass
        thread.join()
        print(done)
        """,
    "who polls without a pause": """
        import threading, time
        done = threading.Event()
        thread = threading.Thread(target=lambda: (time.sleep(0.03), done.set()))
        thread.start()
        while not done.is_set():
            time.sleep(0)
        thread.join()
        print(done.is_set())
        """,
}

# Python 3.11 repeats the first instruction of the next traced function for ever, until the other thread has run.
EXCEPTION_FROM_ANOTHER_THREAD = """
    import ctypes, threading, time
    class Stop(Exception):
        pass
    def work():
        try:
            while True:
                time.sleep(0.001)
                started.set()
        except Stop:
            log.append("stopped")
            with lock:
                log.append("and went on")
    log, lock, started = [], threading.Lock(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    print(ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop)))
    thread.join()
    print(log)
    """
