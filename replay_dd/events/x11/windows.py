"""What windows there are on a display, and which one is under the pointer.

A window manager puts each window of a program into a frame of its own; what is meant here by a window is the program's.
It is known by WM_STATE, which the window manager gives it (Inter-Client Communication Conventions Manual 2.0, section
4.1.3.1), or by its class, where there is no window manager. Some have neither: PyQt programs that do not tell Qt their
name have no class.

Windows come and go while they are looked at: what has gone is left out.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

from replay_dd.events.model import Rectangle, Window
from replay_dd.events.x11.connection import Connection

_DEEPEST = 30
_VIEWABLE = 2
_NAME_BYTES = 1024
_SUBSTRUCTURE_REDIRECT_MASK = 1 << 20
_LOCAL_PROCESS = 2  # LocalClientPIDMask of the X-Resource extension

Accept = Callable[[Any], bool]
"""Says whether one of python-xlib's windows counts."""


def top_windows(connection: Connection) -> list[Any]:
    """The visible windows of programs, from the lowest to the highest (python-xlib's windows).

    Windows outside of the screen are no one's to see: window managers keep one there.
    """
    found = []
    with connection.watched():
        for child in connection.root.query_tree().children:
            try:
                if child.get_attributes().map_state == _VIEWABLE and _on_screen(child):
                    window = _client_in(connection, child)
                    if window is not None:
                        found.append(window)
            except connection.bad_resource:
                continue
    return found


def open_menus(connection: Connection) -> tuple[Rectangle, ...]:
    """Where windows are that take the keyboard without having it, as menus and lists that drop down do."""
    found = []
    tooltip = connection.atom("_NET_WM_WINDOW_TYPE_TOOLTIP")
    with connection.watched():
        for window in top_windows(connection):
            with contextlib.suppress(*connection.bad_resource):
                kind = window.get_full_property(connection.atom("_NET_WM_WINDOW_TYPE"), 0)
                if window.get_attributes().override_redirect and (kind is None or tooltip not in kind.value):
                    found.append(area_of(connection, window))
    return tuple(found)


def _client_in(connection: Connection, window: Any, depth: int = 0) -> Any | None:
    """The program's window: the first one, from the outside, that looks like one; an unmanaged one may not."""
    if _is_client(connection, window):
        return window
    children = window.query_tree().children
    unmanaged = depth == 0 and window.get_attributes().override_redirect
    if unmanaged and not children:
        # A menu of a toolkit without a class. A frame of a window manager is unmanaged, too, but has the window in it.
        return window
    if depth > 3:
        return None
    for child in reversed(children):
        found = _client_in(connection, child, depth + 1)
        if found is not None:
            return found
    return window if unmanaged or (depth == 0 and not has_window_manager(connection)) else None


def _is_client(connection: Connection, window: Any) -> bool:
    return any(window.get_full_property(connection.atom(name), 0) is not None for name in ("WM_STATE", "WM_CLASS"))


def _on_screen(window: Any) -> bool:
    geometry = window.get_geometry()
    return bool(geometry.x + geometry.width > 0 and geometry.y + geometry.height > 0)


def describe(connection: Connection, window: Any, parts: tuple[Any, ...] = (), path: tuple[int, ...] = ()) -> Window:
    """A window as it is now; its number is 0.

    Raises:
        Exception: one of ``connection.bad_resource``: it has gone.
    """
    with connection.watched():
        kind = window.get_full_property(connection.atom("WM_CLASS"), 0)
        names = _text(kind.value).split("\0") if kind is not None else []
        area = area_of(connection, window)
        return Window(
            number=0,
            instance=names[0] if names else "",
            class_name=names[1] if len(names) > 1 else "",
            title=connection.original_path(_title(connection, window)),
            area=area,
            part=area_of(connection, parts[-1]) if parts else area,
            path=path,
            override_redirect=bool(window.get_attributes().override_redirect),
        )


def area_of(connection: Connection, window: Any) -> Rectangle:
    """Where a window is on the screen."""
    geometry = window.get_geometry()
    corner = window.translate_coords(connection.root, 0, 0)
    # python-xlib tells where the root's corner lies in the window: the other way round.
    return Rectangle(-corner.x, -corner.y, geometry.width, geometry.height)


def visible_areas(connection: Connection) -> tuple[Rectangle, ...]:
    """Where the visible windows of programs are, from the lowest to the highest."""
    found = []
    for window in top_windows(connection):
        with connection.watched(), contextlib.suppress(*connection.bad_resource):
            found.append(area_of(connection, window))
    return tuple(found)


def window_under_pointer(connection: Connection) -> Window | None:
    """The program's window under the pointer, with its innermost part; None for the background."""
    return _window_at(connection, lambda window: window.query_pointer().child, None)


def window_at(connection: Connection, x_px: int, y_px: int, accept: Accept | None = None) -> Window | None:
    """The program's window at a place of the screen, with its innermost part; None for the background.

    Args:
        connection: to the display.
        x_px: the place.
        y_px: the place.
        accept: says whether a window counts; all do where it is None.
    """
    root = connection.root
    return _window_at(connection, lambda window: window.translate_coords(root, x_px, y_px).child, accept)


def _window_at(connection: Connection, child_of: Callable[[Any], Any], accept: Accept | None) -> Window | None:
    with connection.watched():
        try:
            return _innermost(connection, child_of, accept)
        except connection.bad_resource:
            return None


def _innermost(connection: Connection, child_of: Callable[[Any], Any], accept: Accept | None) -> Window | None:
    client, parts, path = None, [], []
    window = connection.root
    frame = None
    for depth in range(_DEEPEST):
        child = child_of(window)
        if not child:
            break
        if depth == 0:
            frame = child
        if client is None:
            if _is_client(connection, child) or (depth == 0 and _stands_alone(connection, child)):
                client = child
        else:
            parts.append(child)
            siblings = [item.id for item in window.query_tree().children]
            path.append(siblings.index(child.id) if child.id in siblings else 0)
        window = child
    if client is None and frame is not None:
        client = _client_in(connection, frame)  # the pointer is on its title bar or border
    if client is None or (accept is not None and not accept(client)):
        return None
    return describe(connection, client, tuple(parts), tuple(path))


def focused_window(connection: Connection, accept: Accept | None = None) -> Window | None:
    """The program's window that has the keyboard; None where the pointer decides, or none has it.

    A window manager gives it to a window of its own, outside of the screen, while it decides which one is next.
    """
    with connection.watched():
        window = connection.display.get_input_focus().focus
        for _ in range(_DEEPEST):
            if not hasattr(window, "id") or window.id == connection.root.id:
                return None
            tree = window.query_tree()
            at_top = tree.parent == connection.root and _stands_alone(connection, window)
            if _is_client(connection, window) or at_top:
                counts = _on_screen(window) and (accept is None or accept(window))
                return describe(connection, window) if counts else None
            window = tree.parent
    return None


def pointer_position(connection: Connection) -> tuple[int, int]:
    """Where on the screen the pointer is."""
    with connection.watched():
        pointer = connection.root.query_pointer()
    return pointer.root_x, pointer.root_y


def owner_of(connection: Connection, window: Any) -> int | None:
    """The process that made a window; None where the display cannot tell (it is on another machine)."""
    with connection.watched():
        if not connection.display.has_extension("X-Resource"):
            return None
        answer = connection.display.res_query_client_ids([{"client": window.id, "mask": _LOCAL_PROCESS}])
        return next((int(value) for item in answer.ids for value in item.value), None)


def has_window_manager(connection: Connection) -> bool:
    """Whether somebody decides where windows stand."""
    return bool(connection.root.get_attributes().all_event_masks & _SUBSTRUCTURE_REDIRECT_MASK)


def name_of_window_manager(connection: Connection) -> str:
    """What the window manager of a display calls itself, in lower case; empty where it does not say."""
    with connection.watched():
        check = connection.root.get_full_property(connection.atom("_NET_SUPPORTING_WM_CHECK"), 0)
        if check is None or not check.value:
            return ""
        with contextlib.suppress(*connection.bad_resource):
            return _title(connection, connection.display.create_resource_object("window", check.value[0])).lower()
    return ""


def _stands_alone(connection: Connection, window: Any) -> bool:
    """Whether a window is a program's, although it does not look like one, and no frame around one."""
    found = _client_in(connection, window)
    return found is not None and found.id == window.id


def numbered(window: Window, known: list[Window]) -> int:
    """The number of a window in a list that grows by it where it is new."""
    for other in reversed(known):
        if dataclasses.replace(window, number=other.number) == other:
            return other.number
    known.append(dataclasses.replace(window, number=len(known)))
    return len(known) - 1


def _title(connection: Connection, window: Any) -> str:
    for name in ("_NET_WM_NAME", "WM_NAME"):
        found = window.get_full_property(connection.atom(name), 0, sizehint=_NAME_BYTES)
        if found is not None:
            return _text(found.value)
    return ""


def _text(value: Any) -> str:
    data = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
