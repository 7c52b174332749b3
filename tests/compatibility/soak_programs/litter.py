"""Leaves behind what a program can: temporary files, a process in a session of its own, threads; then it is killed."""

import os
import signal
import subprocess
import tempfile
import threading
import time

tempfile.mkdtemp()
tempfile.mkstemp()
subprocess.Popen(["sleep", "1000"], start_new_session=True)
for _ in range(2):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGKILL)).start()
time.sleep(1000)
