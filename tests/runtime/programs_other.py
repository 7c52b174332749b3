"""Small programs that write the same under every schedule: time, language, processes, the end."""

from __future__ import annotations

OTHERS = {
    "functions that are pickled and copied by name": """
        import copy, os, pickle, threading, time
        threading.Thread().start()
        for function in (time.sleep, time.time, os.getpid, os.urandom, threading.get_ident):
            again = pickle.loads(pickle.dumps(function)), copy.copy(function), copy.deepcopy([function])[0]
            print(function.__name__, [one is function for one in again])
        try:
            pickle.dumps(staticmethod(print))
        except TypeError as error:
            print(error)
        """,
    "virtual time": """
        import threading, time
        start, ends = time.monotonic(), []
        def sleep(seconds):
            time.sleep(seconds)
            ends.append(seconds)
        threads = [threading.Thread(target=sleep, args=(seconds,)) for seconds in (3600, 60, 600)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(ends, round(time.monotonic() - start), time.time() > 0)
        for bad in (-1, "x", None):
            try:
                time.sleep(bad)
            except (ValueError, TypeError) as error:
                print(type(error).__name__)
        """,
    "a loop that looks at the clock": """
        import threading, time
        def spin(clock):
            end = clock() + 0.05
            while clock() < end:
                pass
            print("end")
        for clock in (time.time, time.monotonic, time.perf_counter):
            thread = threading.Thread(target=spin, args=(clock,))
            thread.start()
            thread.join()
        """,
    "time never goes back": """
        import threading, time
        seen = []
        def look():
            mine = []
            for _ in range(20):
                mine.append(time.monotonic())
                time.sleep(0.001)
            seen.append(mine == sorted(set(mine)))
        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(seen)
        """,
    "a thread waits for a flag and sleeps": """
        import threading, time
        flag = []
        def wait():
            while not flag:
                time.sleep(0.01)
            print("seen")
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(1)
        flag.append(1)
        thread.join()
        """,
    "generators": """
        import threading
        def numbers():
            try:
                for number in range(5):
                    yield number
            finally:
                log.append("closed")
        def work():
            log.append(sum(numbers()))
            one = numbers()
            next(one)
            try:
                one.throw(KeyError("k"))
            except KeyError:
                log.append("thrown")
            [number for number in numbers() if number]
        log = []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(map(str, log)))
        """,
    "exceptions": """
        import contextlib, threading
        @contextlib.contextmanager
        def manager():
            try:
                yield 1
            except ZeroDivisionError:
                log.append("swallowed")
        def work():
            with manager() as one:
                one / 0
            try:
                [].pop()
            except IndexError as error:
                log.append(str(error))
            else:
                log.append("else")
            finally:
                log.append("finally")
        log = []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(log))
        """,
    "recursion to the limit": """
        import threading
        def down(): return down()
        def work():
            try:
                down()
            except RecursionError:
                print("deep")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    "functions of C in classes": """
        import _thread, logging, sys, threading, time
        class Own:
            allocate, start, sleep, now = _thread.allocate_lock, _thread.start_new_thread, time.sleep, time.monotonic
            make = threading.Lock
        print(time.sleep.__name__, time.monotonic.__module__, _thread.allocate_lock.__name__)
        own, log = Own(), []
        with own.allocate(), own.make():
            own.sleep(0.01)
        own.start(log.append, (1,))
        while not log:
            own.sleep(0.001)
        print(log, own.now() > 0)
        logging.basicConfig(format="%(asctime)s %(message)s", datefmt="-", stream=sys.stdout)
        threading.Thread(target=logging.warning, args=("a line",)).start()
        """,
    "finalizers": """
        import gc, threading, weakref
        class Node:
            def __init__(self):
                self.me = self
                weakref.finalize(self, count)
            def __del__(self):
                log.append(1)
        def count():
            with lock:
                log.append(2)
        def work():
            for _ in range(50): Node()
        lock, log = threading.Lock(), []
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        gc.collect()
        print(sorted(log).count(1), sorted(log).count(2), gc.isenabled())
        """,
    "a fork while others run": """
        import os, threading, warnings
        warnings.simplefilter("ignore")  # the one at a fork tells the number of the process
        def work():
            started.set()
            with lock:
                for _ in range(5):
                    with condition:
                        condition.notify_all()
        lock, condition, started = threading.Lock(), threading.Condition(), threading.Event()
        for _ in range(5):
            thread = threading.Thread(target=work)
            thread.start()
            started.wait()
            pid = os.fork()
            if pid == 0:
                own = threading.Thread(target=int)
                own.start()
                own.join()
                os._exit(7 if not thread.is_alive() and threading.active_count() == 1 else 8)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
            thread.join()
        """,
    "fork": """
        import os, sys, threading
        def work(): log.append(1)
        log = []
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        sys.stdout.flush()
        child = os.fork()
        if not child:
            inner = threading.Thread(target=work)
            inner.start(); inner.join()
            print("child", len(log), flush=True)
            os._exit(0)
        print("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    "subprocess": """
        import subprocess, sys, threading
        def work(number):
            done = subprocess.run([sys.executable, "-c", f"print({number})"], capture_output=True, text=True)
            log.append(done.stdout.strip())
        log = []
        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(sorted(log))
        """,
    "exit handlers": """
        import atexit, threading
        atexit.register(print, "first registered, last called")
        atexit.register(lambda: threading.Thread(target=print, args=("thread",)).start() if False else print("second"))
        thread = threading.Thread(target=print, args=("still running",))
        thread.start()
        """,
    "the end waits for threads that start meanwhile": """
        import threading, time
        def third():
            time.sleep(0.2)
            print("third")
        def second():
            time.sleep(0.1)
            if sys.version_info >= (3, 13): threading.Thread(target=third).start()  # before, the end forbids it
            else: third()
        import sys
        for function in (lambda: time.sleep(0.01), second): threading.Thread(target=function).start()
        """,
    "no room for a thread": """
        import threading
        threading.stack_size(1 << 46)
        for thread in (threading.Thread(target=print, args=("never",)) for _ in range(2)):
            try:
                thread.start()
            except RuntimeError as error:
                print(error, thread.is_alive(), threading.active_count())
        threading.stack_size(0)
        thread = threading.Thread(target=print, args=("small",))
        thread.start()
        thread.join()
        """,
    "what cannot be copied": """
        import copy, pickle, queue, threading
        class Own(type(threading.RLock())):
            pass
        class Stateful(Own):
            def __getstate__(self): return None
        def look():
            made = threading.Lock(), threading.RLock(), Own(), queue.SimpleQueue(), threading.Event(), queue.Queue()
            for one in made:
                for function in (copy.copy, copy.deepcopy, pickle.dumps):
                    try:
                        print(type(one), function.__name__, type(function(one)))
                    except Exception as error:
                        print(type(one), function.__name__, type(error), error)
            print(type(copy.copy(Stateful())))
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        for seconds in (-2, 1e9 + 1e10):
            try:
                threading.Lock().acquire(True, seconds)
            except (ValueError, OverflowError) as error:
                print(error)
        """,
    "where the threads stand": """
        import sys, threading
        def wait(): event.wait()
        def take():
            with lock: pass
        event, lock = threading.Event(), threading.Lock()
        with lock:
            threads = [threading.Thread(target=function) for function in (wait, take)]
            for thread in threads: thread.start()
            names = {frame.f_code.co_name for frame in sys._current_frames().values()}
            print(sorted(names & {"_choose", "_hand_over", "wait_for_baton", "operation", "_ask", "wait_at"}))
            print(sys._current_frames()[threading.get_ident()] is sys._getframe())
            event.set()
        for thread in threads: thread.join()
        """,
    "a module in the folder for temporary files": """
        import os, sys, tempfile, threading
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "plugin.py"), "w") as file:
                file.write("def work():\\n    for _ in range(3): done.append(len(done))\\ndone = []\\n")
            sys.path.insert(0, folder)
            import plugin
            threads = [threading.Thread(target=plugin.work) for _ in range(2)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            print(len(plugin.done))
        """,
    "switch interval": """
        import sys, threading
        before = sys.getswitchinterval()
        sys.setswitchinterval(0.25)
        print(before, sys.getswitchinterval())
        try:
            sys.setswitchinterval(0)
        except ValueError as error:
            print(error)
        """,
}
