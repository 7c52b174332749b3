"""A program with one window, for the tests: what it does on events is told by its argument, `EVENT=DEED,...`.

Events: `start`, `button`, `motion`, `key`, or `key:a` for one key symbol. It writes each event to standard output.
`in order=key:a+key:b` crashes when these events have come, in this order, whatever came between. With `ping=yes` its
windows announce that they answer the question whether it hangs, and they do; with `ping=qt` they answer as Qt does, and
with `ping=never` they do not. With `class=none` they have no class.
"""

from __future__ import annotations

import ctypes
import os
import select
import subprocess
import sys
import threading
import time

from Xlib import XK, X, Xatom, display

DEEDS = dict(item.split("=", 1) for item in sys.argv[1].split(",")) if len(sys.argv) > 1 and sys.argv[1] else {}


def crash_here() -> None:
    ctypes.string_at(0)


def raise_here() -> None:
    raise LookupError("no such thing")


def do_deadlock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def compute() -> None:
    while True:
        sum(range(1000))


DISTURBED = threading.Event()


def work() -> None:
    """Crash if it is disturbed in these five seconds."""
    for _ in range(50):
        time.sleep(0.1)
        if DISTURBED.is_set():
            crash_here()


AWAITED = [event for event in DEEDS.get("in order", "").split("+") if event]


def do(event: str, window: object) -> None:
    deed = DEEDS.get(event, "")
    print(event, flush=True)
    if AWAITED and AWAITED[0] == event:
        del AWAITED[0]
        if not AWAITED:
            crash_here()
    if deed == "crash":
        crash_here()
    elif deed == "sometimes":
        # In each run but the second of three.
        with open(os.environ["TEST_COUNTER"], "a+") as counter:
            counter.write(".")
            counter.flush()
            if counter.tell() % 3 != 2:
                crash_here()
    elif deed == "at first":
        # As often as it is told, and then never again.
        with open(os.environ["TEST_COUNTER"], "a+") as counter:
            counter.write(".")
            counter.flush()
            if counter.tell() <= int(os.environ["TEST_TIMES"]):
                crash_here()
    elif deed == "abort":
        os.abort()
    elif deed == "raise":
        raise_here()
    elif deed == "deadlock":
        do_deadlock()
    elif deed == "listening deadlock":
        # Like the above, but somebody waits for something else meanwhile.
        threading.Thread(target=select.select, args=([os.pipe()[0]], [], []), daemon=True).start()
        do_deadlock()
    elif deed == "helper deadlock":
        threading.Thread(target=do_deadlock, daemon=True).start()
    elif deed == "compute":
        # Somebody else is busy, and the window answers.
        threading.Thread(target=compute, daemon=True).start()
    elif deed == "hang":
        while True:
            pass
    elif deed == "work":
        threading.Thread(target=work, daemon=True).start()
    elif deed == "later":
        threading.Timer(0.3, crash_here).start()
    elif deed == "disturb":
        DISTURBED.set()
    elif deed == "nap":
        time.sleep(0.25)
    elif deed == "leave":
        # As toolkits do: the window goes first, and the program some time later.
        window.destroy()
        connection.sync()
        time.sleep(0.3)
        os._exit(3)
    elif deed.startswith("exit"):
        os._exit(int(deed[4:] or 0))
    elif deed == "report":
        # As Tk does: it catches the exception, writes the traceback and goes on.
        try:
            raise_here()
        except LookupError:
            import traceback

            traceback.print_exc()
    elif deed == "dialog":
        open_window("Application Error")
    elif deed == "rename":
        window.set_wm_name("*First")
        connection.flush()
    elif deed == "name folder":
        window.set_wm_name(f"{os.getcwd()}/notes.txt")
        connection.flush()
    elif deed == "window":
        open_window("Second")
    elif deed == "badwindow":
        connection.create_resource_object("window", 1).map()
        connection.sync()
        sys.stderr.write("X Error of failed request:  BadWindow (invalid Window parameter)\n")
        sys.stderr.write("  Major opcode of failed request:  8 (X_MapWindow)\n")
        os._exit(1)
    elif deed == "fork":
        if os.fork():
            os._exit(0)
    elif deed == "daemon":
        if not os.fork():
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(1000)
            os._exit(0)
    elif deed == "child":
        subprocess.Popen(["sleep", "1000"])
    elif deed == "thread":
        threading.Thread(target=crash_here).start()
    elif deed == "display":
        os.kill(int(os.environ["TEST_SERVER"]), 9)


def open_window(title: str) -> object:
    screen = connection.screen()
    made = screen.root.create_window(0, 0, 320, 200, 0, screen.root_depth, background_pixel=screen.white_pixel)
    made.change_attributes(event_mask=X.KeyPressMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask)
    made.change_property(PROTOCOLS, Xatom.ATOM, 32, [PING] if "ping" in DEEDS else [])
    made.set_wm_name(title)
    if "class" not in DEEDS:
        made.set_wm_class("windows", "Windows")
    made.map()
    connection.flush()
    return made


if DEEDS.get("first") == "fork":
    do("first", None)
connection = display.Display()
PROTOCOLS, PING = (connection.intern_atom(name) for name in ("WM_PROTOCOLS", "_NET_WM_PING"))
do("start", None)
if "none" not in DEEDS:
    window = open_window("First")
while True:
    event = connection.next_event()
    if event.type == X.KeyPress:
        symbol = connection.keycode_to_keysym(event.detail, event.state & 1)
        name = next((name[3:] for name, value in vars(XK).items() if name.startswith("XK_") and value == symbol), "")
        do(f"key:{name}", event.window)
        do("key", event.window)
    elif event.type == X.ButtonPress:
        do(f"button:{event.detail}", event.window)
        do("button", event.window)
    elif event.type == X.ClientMessage and event.data[1][0] == PING:
        event.window = connection.screen().root
        known = X.StructureNotifyMask if DEEDS["ping"] == "qt" else X.SubstructureNotifyMask
        if DEEDS["ping"] != "never":
            event.window.send_event(event, known | X.SubstructureRedirectMask)
        connection.flush()
    elif event.type == X.MappingNotify:
        connection.refresh_keyboard_mapping(event)
    elif event.type == X.MotionNotify:
        do("motion", event.window)
