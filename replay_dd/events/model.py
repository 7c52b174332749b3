"""The data of a recorded session: the program, its windows, what the person did, and how it ended.

Rules of this module:

* Everything here is plain, frozen data; a log file serializes these classes (:mod:`replay_dd.events.log`).
* Positions are screen pixels from the upper left corner. Times are milliseconds since the program was started.
* Keys are identified by their key symbols (``"a"``, ``"Return"``, ``"Shift_L"``), never by key codes, which differ
  between keyboards.
* A session contains raw events (a recording) or actions (a monkey's, a minimal or a hand-written session). Only actions
  are played; :func:`replay_dd.events.actions.actions_of` makes them from raw events.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from replay_dd.system_texts import Argument, Name, VariableName


class InputKind(enum.Enum):
    """What happens to a pointer or a keyboard."""

    MOVE = "move"
    BUTTON_PRESS = "button-press"
    BUTTON_RELEASE = "button-release"
    KEY_PRESS = "key-press"
    KEY_RELEASE = "key-release"


class ActionKind(enum.Enum):
    """The kind of an action, in everyday terms."""

    MOTION = "motion"
    CLICK = "click"
    DOUBLE_CLICK = "double-click"
    DRAG = "drag"
    WHEEL = "wheel"
    KEY = "key"
    CHORD = "chord"
    TEXT = "text"


class EndingKind(enum.Enum):
    """How a run ended. ``OPEN`` (it still runs) and ``EXIT`` with status 0 pass."""

    OPEN = "open"
    EXIT = "exit"
    SIGNAL = "signal"
    EXCEPTION = "exception"
    X_ERROR = "x-error"
    DIALOG = "dialog"
    HANG = "hang"
    ORACLE = "oracle"


@dataclass(frozen=True)
class GuiProgram:
    """The program that the session was made with.

    Attributes:
        command: the program and its arguments.
        directory: the working directory.
        environment: variables that its behaviour usually depends on; a replay inherits all others.
        files: for files of the program (the one that is started, and arguments that are files), the first 32
            hexadecimal digits of the SHA-256 hash.
        here: whether it works in the working directory itself; otherwise each run gets a fresh copy.
        home: a folder that is copied for each run as its HOME; empty for an empty HOME.
        surroundings: fonts and themes of the machine (:mod:`replay_dd.events.surroundings`).
    """

    command: tuple[Argument, ...]
    directory: Name
    environment: Mapping[VariableName, Argument] = field(default_factory=dict)
    files: Mapping[Argument, str] = field(default_factory=dict)
    here: bool = False
    home: Argument = ""
    surroundings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Screen:
    """The screen of the session, and its keyboard.

    Attributes:
        width_px: width.
        height_px: height.
        depth_bits: bits per pixel.
        keyboard: layout, variant and options of the keyboard, separated by semicolons, such as ``"de;nodeadkeys;"``;
            empty for that of private displays (US).
    """

    width_px: int
    height_px: int
    depth_bits: int = 24
    keyboard: str = ""


@dataclass(frozen=True)
class Rectangle:
    """A part of the screen."""

    x_px: int
    y_px: int
    width_px: int
    height_px: int

    def contains(self, x_px: int, y_px: int) -> bool:
        """Whether a point lies in it."""
        return 0 <= x_px - self.x_px < self.width_px and 0 <= y_px - self.y_px < self.height_px


@dataclass(frozen=True)
class Window:
    """A window of the program at one moment.

    Attributes:
        number: its index in :attr:`Session.windows`. A window that was moved or renamed gets another number.
        instance: first part of WM_CLASS, such as ``"xcalc"``; empty if it has none.
        class_name: second part of WM_CLASS, such as ``"XCalc"``.
        title: what its title bar says.
        area: where it was, without the window manager's frame.
        part: the innermost child window under the pointer (a button, a text field), if the program uses windows for
            these; otherwise equal to ``area``.
        path: the path from the window to that child: at each level, the index of the child in stacking order, from the
            bottom.
        override_redirect: whether the window manager ignores it (menus, tooltips).
    """

    number: int
    instance: str
    class_name: str
    title: str
    area: Rectangle
    part: Rectangle
    path: tuple[int, ...] = ()
    override_redirect: bool = False

    @property
    def name(self) -> str:
        """What a person would call it."""
        return self.title or self.class_name or self.instance or "a window without a name"


@dataclass(frozen=True)
class Event:
    """A raw event: what the X server reported about the pointer or the keyboard.

    Attributes:
        kind: what happened.
        time_ms: when.
        x_px: where the pointer was.
        y_px: where the pointer was.
        button: for buttons, its number: 1 left, 2 middle, 3 right, 4 to 7 the wheel (up, down, left, right).
        key: for keys, its key symbol without any modifier (that of the key's first level).
        symbol: for keys, the key symbol that results from the modifiers: ``"A"`` for Shift and ``a``.
        modifiers: which modifiers were held before it: ``"Shift"``, ``"Lock"``, ``"Control"``, ``"Mod1"`` ...
        window: number of the window under it; None for the background.
    """

    kind: InputKind
    time_ms: int
    x_px: int
    y_px: int
    button: int = 0
    key: str = ""
    symbol: str = ""
    modifiers: tuple[str, ...] = ()
    window: int | None = None


@dataclass(frozen=True)
class WindowChange:
    """A window of the program appeared, or went away."""

    time_ms: int
    window: int
    appeared: bool


@dataclass(frozen=True)
class Input:
    """One elementary step of a player.

    Attributes:
        kind: what.
        x_px: for moves, where to.
        y_px: for moves, where to.
        button: for buttons, which.
        key: for keys, the key symbol.
    """

    kind: InputKind
    x_px: int = 0
    y_px: int = 0
    button: int = 0
    key: str = ""


@dataclass(frozen=True)
class Action:
    """One thing that a person did. Played alone, it leaves no button and no key held.

    Attributes:
        kind: what kind of action it is.
        inputs: what is played, in order. This is all that a player needs.
        time_ms: when it began.
        duration_ms: how long it took; if pauses matter, its inputs are spread over this time.
        window: number of the window in which it began; None for the background, or if unknown.
        text: for ``TEXT`` the text, for ``KEY`` the key symbol, for ``CHORD`` something like ``"Alt+p"``.
        modifiers: modifiers held during a click, drag or wheel, such as ``("Shift_L",)``; they are in the inputs, too.
        target: what it is done to, as its replay has found, such as ``button "Save"``; empty if that is not known.
    """

    kind: ActionKind
    inputs: tuple[Input, ...]
    time_ms: int = 0
    duration_ms: int = 0
    window: int | None = None
    text: str = ""
    modifiers: tuple[str, ...] = ()
    target: str = ""

    @property
    def start(self) -> tuple[int, int] | None:
        """Where the pointer is when the first button goes down, or, for a motion, where it ends; None for keys."""
        place = None
        for item in self.inputs:
            if item.kind is InputKind.MOVE:
                place = (item.x_px, item.y_px)
            elif item.kind is InputKind.BUTTON_PRESS:
                break
        return place

    @property
    def end(self) -> tuple[int, int] | None:
        """Where the pointer is at the end; None for keys."""
        moves = [item for item in self.inputs if item.kind is InputKind.MOVE]
        return (moves[-1].x_px, moves[-1].y_px) if moves else None

    @property
    def button(self) -> int:
        """The first button pressed; 0 if there is none."""
        return next((item.button for item in self.inputs if item.kind is InputKind.BUTTON_PRESS), 0)


@dataclass(frozen=True)
class Target:
    """What an action was done to, beside the action: raw events, of which a session may consist, cannot tell it.

    Attributes:
        time_ms: when the action began.
        kind: what kind of action it is.
        text: what it was done to, as in :attr:`Action.target`.
    """

    time_ms: int
    kind: ActionKind
    text: str


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes:
        kind: the kind of ending.
        text: one line for people: ``"killed by SIGSEGV in libfoo.so+0x1234"``.
        signature: what makes two failures the same; empty if the run passed.
        status: exit status, if the program exited.
        signal: number of the signal that ended it, if one did.
        frames: the stack, innermost first: ``"function (file:line)"`` or ``"module+0xoffset"``.
        actions: how many actions had been played, or had begun, by then.
        time_ms: when.
        output: the last of what the program wrote to standard output and standard error.
        neighbours: signatures of other places at which the same session failed at the same action; they count as the
            same failure.
    """

    kind: EndingKind
    text: str
    signature: str = ""
    status: int | None = None
    signal: int | None = None
    frames: tuple[str, ...] = ()
    actions: int = 0
    time_ms: int = 0
    output: str = ""
    neighbours: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether this is a failure: it has a signature."""
        return bool(self.signature)


class Pace(enum.Enum):
    """How fast actions are played.

    ``FAST`` continues as soon as the program is idle. ``UNHURRIED`` also leaves enough time between clicks that two of
    them are not taken for a double-click. ``RECORDED`` also waits as long as the person did. ``IMPATIENT`` waits so
    long and not for the program: the person went on while it was busy.
    """

    FAST = "fast"
    UNHURRIED = "unhurried"
    RECORDED = "recorded"
    IMPATIENT = "impatient"


@dataclass(frozen=True)
class Playback:
    """How a session is played, beside its pace, so that a replay is what was tested.

    Attributes:
        settle_s: how long to wait once the first window is there and the program idle.
        linger_s: how long to wait after the last action for a failure that comes later.
        start_limit_s: how long the program may take to open a window; None for the default.
        hang_limit_s: how long it may be busy without answering; None for the default.
        player: the name of the player; empty for the default.
    """

    settle_s: float = 0.0
    linger_s: float = 0.0
    start_limit_s: float | None = None
    hang_limit_s: float | None = None
    player: str = ""


@dataclass(frozen=True)
class Session:
    """A session of a person, or a monkey, with a program.

    Attributes:
        program: the program.
        screen: the screen.
        window_manager: name of the window manager's program, such as ``"openbox"``; empty for none.
        recorder: what made it: ``"x11"``, ``"monkey"``, ``"isolated"`` ...
        windows: all windows that events, actions and changes refer to.
        events: raw events, in order; empty if the session contains actions.
        actions: actions, in order; empty if the session contains raw events.
        changes: windows that appeared and disappeared.
        targets: what actions were done to, as the replay that checked the session has found.
        ending: how it ended; None if the recorder was stopped before.
        masked: whether typed text was replaced (``--no-text``).
        seed: the random seed of a monkey.
        pace: how fast to play it.
        verified: whether an immediate replay ended in the same way; None if there was none.
        playback: how else to play it.
    """

    program: GuiProgram
    screen: Screen
    window_manager: str = ""
    recorder: str = "x11"
    windows: tuple[Window, ...] = ()
    events: tuple[Event, ...] = ()
    actions: tuple[Action, ...] = ()
    changes: tuple[WindowChange, ...] = ()
    targets: tuple[Target, ...] = ()
    ending: Ending | None = None
    masked: bool = False
    seed: int | None = None
    pace: Pace = Pace.FAST
    verified: bool | None = None
    playback: Playback = Playback()

    def window_of(self, number: int | None) -> Window | None:
        """The window of that number."""
        return None if number is None or not 0 <= number < len(self.windows) else self.windows[number]
