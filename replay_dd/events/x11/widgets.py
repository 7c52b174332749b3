"""What Tk calls the widgets of a program: it can be asked, over the display, without the program's help.

Rules of this module:

* The script (:mod:`replay_dd.events.x11.tk_send`) only asks. It calls nothing of the program's own, and is sent only
  when the program is idle.
* A program that does not answer once is not asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from replay_dd.events.describe import on_one_line
from replay_dd.events.model import Action, ActionKind
from replay_dd.events.naming import chooses_by_letter
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.tk_send import TkSend

_LIMIT_S = 2.0
_TICK_S = 0.001
# What a person takes for the label of a widget: the nearest one to its left, with no other widget between, or else one
# close above it with nothing but labels beside it, or else the title of the group around it. How far away it may be,
# and how far it may reach into it, is in pixels.
_LABEL = """{w {farthest_left 250} {farthest_above 30} {touching 3}} {
    set labels {}
    set others {}
    set all [winfo children [winfo toplevel $w]]
    for {set i 0} {$i < [llength $all]} {incr i} {
        set v [lindex $all $i]
        lappend all {*}[winfo children $v]
        if {$v eq $w || ![winfo viewable $v] || [string match $v.* $w] || [string match $w.* $v]
            || [winfo toplevel $v] ne [winfo toplevel $w]} continue
        set x [winfo rootx $v]
        set y [winfo rooty $v]
        set place [list $x $y [expr {$x + [winfo width $v]}] [expr {$y + [winfo height $v]}]]
        if {[winfo class $v] in {Label TLabel}} {
            if {[$v cget -text] ne ""} {lappend labels [list {*}$place [$v cget -text]]}
        } elseif {[winfo class $v] ni {Frame TFrame Labelframe TLabelframe TNotebook Panedwindow TPanedwindow}} {
            lappend others $place
        }
    }
    set left [winfo rootx $w]
    set top [winfo rooty $w]
    set right [expr {$left + [winfo width $w]}]
    set bottom [expr {$top + [winfo height $w]}]
    set found [list $farthest_left ""]
    foreach label $labels {
        lassign $label x y end down text
        set middle [expr {($y + $down) / 2}]
        set gap [expr {$left - $end}]
        if {$gap < -$touching || $gap >= [lindex $found 0] || $middle < $top || $middle > $bottom} continue
        foreach other $others {
            lassign $other a b c d
            if {$c > $end && $a < $left && $b <= $middle && $d >= $middle} {set gap $farthest_left}
        }
        if {$gap < [lindex $found 0]} {set found [list $gap $text]}
    }
    if {[lindex $found 1] ne ""} {return [lindex $found 1]}
    set found [list $farthest_above ""]
    foreach label $labels {
        lassign $label x y end down text
        set middle [expr {($y + $down) / 2}]
        set gap [expr {$top - $down}]
        if {$gap < -$touching || $gap >= [lindex $found 0] || $x >= $right || $end <= $left} continue
        foreach other $others {
            lassign $other a b c d
            if {$b <= $middle && $d >= $middle} {set gap $farthest_above}
        }
        if {$gap < [lindex $found 0]} {set found [list $gap $text]}
    }
    if {[lindex $found 1] ne ""} {return [lindex $found 1]}
    for {set v [winfo parent $w]} {$v ne ""} {set v [winfo parent $v]} {
        if {[winfo class $v] in {Labelframe TLabelframe}} {return [$v cget -text]}
    }
}"""
_SCRIPT = """apply {{x y} {
    set w [expr {$x eq "" ? [focus] : [winfo containing $x $y]}]
    if {$w eq "" || $w eq [winfo toplevel $w] && [winfo class $w] ne "Menu"} {return}
    set text ""
    set class [winfo class $w]
    # Keys are for what is lit in a menu, and for the row of a list that has a frame around it.
    if {$x eq ""} {
        catch {
            switch $class {
                Menu {if {[$w index active] ni {none ""}} {set text [$w entrycget active -label]}}
                Listbox {if {[$w size]} {set text [$w get active]}}
                Treeview {
                    set row [$w focus]
                    if {$row ne ""} {
                        set text [$w item $row -text]
                        if {$text eq ""} {set text [lindex [$w item $row -values] 0]}
                    }
                }
            }
        }
    } else {
        set x [expr {$x - [winfo rootx $w]}]
        set y [expr {$y - [winfo rooty $w]}]
        catch {
            switch [winfo class $w] {
                Menu {set text [$w entrycget @$x,$y -label]}
                Listbox {set text [$w get [$w nearest $y]]}
                Treeview {
                    if {[$w identify region $x $y] eq "heading"} {
                        set text [$w heading [$w identify column $x $y] -text]
                        if {$text ne ""} {set class Heading}
                    } else {
                        set row [$w identify row $x $y]
                        set text [$w item $row -text]
                        if {$text eq ""} {set text [lindex [$w item $row -values] 0]}
                    }
                }
                TNotebook {set text [$w tab @$x,$y -text]}
                Canvas {
                    set x [$w canvasx $x]
                    set y [$w canvasy $y]
                    set item [lindex [$w find overlapping $x $y $x $y] end]
                    set text [lsearch -all -inline -not -exact [$w gettags $item] current]
                    if {$text eq ""} {set text [$w type $item]}
                }
            }
        }
    }
    foreach option [$w configure] {
        if {$text eq "" && [lindex $option 0] in {-text -label}} {set text [lindex $option end]}
    }
    if {[string match *.popdown.f.l $w]} {
        # The list of a combo box is a window of its own.
        set w [winfo parent [winfo toplevel $w]]
        set class "[winfo class $w] row"
    }
    set label [apply LABEL $w]
    if {$class eq "Menu"} {
        set bar [winfo parent $w]
        catch {
            for {set i 0} {$i <= [$bar index end]} {incr i} {
                if {[$bar type $i] ne "cascade" || [$bar entrycget $i -menu] ne $w} continue
                set label [$bar entrycget $i -label]
            }
        }
    }
    join [list $class $w $label $text] "\\n"
}} """.replace("LABEL", f"{{{_LABEL}}}")
# Parts of widgets: what they are called, and whether the widget is named, too.
_PARTS = {
    "Menu": ("menu entry", False),
    "TNotebook": ("tab", False),
    "Listbox": ("row", True),
    "Treeview": ("row", True),
    "TCombobox row": ("row", True),
    "Heading": ("heading", False),
    "Canvas": ("item", True),
}
_CONTAINERS = ("Frame", "TFrame")


class TkWidgets:
    """The widgets of the Tk programs on a display.

    Args:
        connection: to the display.
        tk: asks them.
        over: tells that the program has ended.
    """

    def __init__(self, connection: Connection, tk: TkSend, over: Callable[[], bool]) -> None:
        self._connection = connection
        self._tk = tk
        self._over = over
        self._silent = False

    def name(self, action: Action) -> str:
        """What an action is going to be done to, such as ``button "Save"``; empty if that is not known."""
        if action.kind is ActionKind.MOTION or self._silent:
            return ""
        x_px, y_px = action.start or ("{}", "{}")
        script = f"{_SCRIPT}{x_px} {y_px}".encode()
        with self._connection.watched():
            for window, name in self._tk.programs():
                told = in_words(self._ask(window, name, script), of_menu=chooses_by_letter(action))
                if told:
                    return told
        return ""

    def _ask(self, window: Any, name: bytes, script: bytes) -> str:
        question = self._tk.ask(window, name, script)
        until = time.monotonic() + _LIMIT_S
        while not self._over():
            told = self._tk.answer(question)
            if told is not None:
                return told
            if time.monotonic() > until:
                self._silent = True
                break
            time.sleep(_TICK_S)
        return ""


def in_words(told: str, *, of_menu: bool = False) -> str:
    """A widget as a person would name it.

    Args:
        told: its class, its path, its label and the text at that place, on lines of their own.
        of_menu: name an open menu, not the entry that is lit in it.
    """
    kind, path, label, text = (*told.split("\n", 3), "", "", "", "")[:4]
    text, label = on_one_line(text), on_one_line(label.strip().rstrip(":"))
    if not path or kind in _CONTAINERS:
        return ""
    # Classes of themed widgets have a T before their names: TButton.
    plain = (kind[1:] if kind[0] == "T" and kind[1:2].isupper() else kind).lower().removesuffix(" row")
    part, with_widget = _PARTS.get(kind, (plain, False))
    widget = f'{plain} "{label}"' if label else f"{plain} {path}"
    if not text or (of_menu and kind == "Menu" and label):
        return widget
    return f'{part} "{text}" of {widget}' if with_widget else f'{part} "{text}"'
