"""A small editor in the toolkit that its argument names, for the tests; run by a Python that has that toolkit.

It writes its text to standard output whenever that changes. Some words are its defects: `loop` in its text makes the
handler loop for ever, `lock` wait for a lock that nobody gives back, `error` raise an exception that nobody catches,
and `crash` read from address 0.
"""

from __future__ import annotations

import ctypes
import sys
import threading


def changed(text: str) -> None:
    print(f"text {text}", flush=True)
    if text.endswith("loop"):
        while True:
            pass
    elif text.endswith("lock"):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    elif text.endswith("error"):
        raise LookupError("no such word")
    elif text.endswith("crash"):
        ctypes.string_at(0)


def run_qt(package: str) -> None:
    import importlib

    widgets = importlib.import_module(f"{package}.QtWidgets")
    application = widgets.QApplication([])
    window = widgets.QWidget()
    window.setWindowTitle("Editor")
    field = widgets.QLineEdit()
    field.textChanged.connect(changed)
    layout = widgets.QVBoxLayout(window)
    layout.addWidget(field)
    layout.addWidget(widgets.QPushButton("Button"))
    window.resize(320, 200)
    window.show()
    sys.exit(getattr(application, "exec_" if package == "PyQt5" else "exec")())


def run_gtk(version: str) -> None:
    import gi

    gi.require_version("Gtk", version)
    from gi.repository import GLib, Gtk

    window = Gtk.Window(title="Editor")
    window.set_default_size(320, 200)
    field = Gtk.Entry()
    field.connect("changed", lambda entry: changed(entry.get_text()))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    for part in (field, Gtk.Button(label="Button")):
        box.add(part) if version == "3.0" else box.append(part)
    if version == "3.0":
        window.add(box)
        window.show_all()
    else:
        window.set_child(box)
        window.present()
    GLib.MainLoop().run()


def run_tk() -> None:
    import tkinter

    window = tkinter.Tk()
    window.title("Editor")
    window.geometry("320x200")
    text = tkinter.StringVar()
    field = tkinter.Entry(window, textvariable=text)
    text.trace_add("write", lambda *_: changed(text.get()))
    field.pack()
    tkinter.Button(window, text="Button").pack()
    field.focus_set()
    window.mainloop()


def run_xt() -> None:
    toolkit, athena = ctypes.CDLL("libXt.so.6"), ctypes.CDLL("libXaw.so.7")
    pointer, word, nothing = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p(None)
    for function in (toolkit.XtAppInitialize, toolkit.XtVaCreateManagedWidget, athena.XawTextGetSource):
        function.restype = pointer
    context, count = pointer(), ctypes.c_int(0)
    arguments = (ctypes.byref(context), word(b"Editor"), nothing, 0, ctypes.byref(count), word(), nothing, nothing, 0)
    top = pointer(toolkit.XtAppInitialize(*arguments))
    kind = pointer.in_dll(athena, "asciiTextWidgetClass")
    editable = (word(b"editType"), ctypes.c_long(2), word(b"width"), ctypes.c_long(320), word(b"height"))
    field = pointer(toolkit.XtVaCreateManagedWidget(word(b"field"), kind, top, *editable, ctypes.c_long(200), nothing))

    @ctypes.CFUNCTYPE(None, pointer, pointer, pointer)
    def on_change(widget: object, closure: object, data: object) -> None:
        text = word()
        toolkit.XtVaGetValues(field, word(b"string"), ctypes.byref(text), nothing)
        changed((text.value or b"").decode())

    source = pointer(athena.XawTextGetSource(field))
    toolkit.XtAddCallback(source, word(b"callback"), on_change, nothing)
    toolkit.XtVaSetValues(top, word(b"input"), ctypes.c_long(1), nothing)
    toolkit.XtRealizeWidget(top)
    toolkit.XtAppMainLoop(context)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "tk":
        run_tk()
    elif kind == "xt":
        run_xt()
    elif kind in ("3.0", "4.0"):
        run_gtk(kind)
    else:
        run_qt(kind)
