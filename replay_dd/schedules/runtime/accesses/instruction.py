"""What an instruction does to attributes, variables and containers.

Rules of this module:

* An access is described just before its instruction runs, by the thread that runs it. Nobody else runs in between.
* Operands are read from the stack of the frame. Without the accelerator, the expressions that led to them are evaluated
  once more; a variable that has changed in between then misleads.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]

from ..accelerator import accelerator
from ..compat import ATTR_HAS_METHOD_BIT, ITERATOR_PLACES
from ..observing import local_value
from . import arrays, values
from .access import (
    ATTRIBUTE,
    CALLS,
    CELL,
    CHECKS,
    DELETES,
    GLOBAL,
    ITEM,
    ITERATES,
    LOCAL,
    OBJECT,
    READS,
    STORES,
    WHOLE,
    Access,
)
from .library_containers import found_in, held, inside, iterated_in
from .operands import variables
from .own_attributes import is_done_by_class
from .semaphores import is_semaphore, use_of
from .values import ABSENT, CLASS, COMPUTED, INSTANCE, MISSING, UNKNOWN
from .whole_process import redirected, streams

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .names import Names
    from .operands import Expression


_CELL = type((lambda cell: lambda: cell)(0).__closure__[0])  # type: ignore[index]
_UNCHANGING = (str, bytes, tuple, frozenset)


class Instruction:
    """One instruction that is about to run.

    Attributes:
        names: how objects are called.
        frame: where it runs.
        name, argument: what it is.
        of_library: whether a file of code belongs to the standard library, where nothing is observed.
        through: the instance whose attribute its class gave, or None.
        also: a second thing that it accesses, or None.
    """

    def __init__(
        self,
        names: Names,
        frame: FrameType,
        name: str,
        argument: int,
        stack: tuple[Any, ...],
        of_library: Callable[[str], bool],
    ) -> None:
        self.names, self.frame, self._code = names, frame, frame.f_code
        self.of_library = of_library
        self.name, self.argument, self._stack = name, argument, stack
        self.through: object = None
        self.also: Access | None = None

    def access(self) -> Access | None:
        """What it does; None if it touches nothing that could be shared."""
        name = self.name
        if name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"):
            return self._attribute()
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME"):
            return self._global()
        if name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
            return self._cell()
        if name in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"):
            return self._subscript()
        if name in ("BINARY_SLICE", "STORE_SLICE"):
            base = self.value(3)
            return self.whole(base, self.expression(3), STORES if name == "STORE_SLICE" else READS)
        if name == "CONTAINS_OP":
            return self._containment()
        if name == "FOR_ITER":
            iterator, expression = self.value(ITERATOR_PLACES), self.expression(ITERATOR_PLACES)
            if values.exactly(iterator, values.GeneratorType):
                of_library = self.whole(iterated_in(iterator.gi_frame), expression, ITERATES)  # type: ignore[attr-defined]
                return of_library or self.next_of(iterator, expression)
            return self.whole(values.iterated(iterator), expression, ITERATES)
        if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            return self.call()
        if name == "BEFORE_WITH":
            return self.managed(self.value(1), self.expression(1), ends=False)
        return None

    # -- the stack ---------------------------------------------------------------------------------------------------

    def expression(self, depth: int) -> Expression:
        """Where the value this deep in the stack came from, 1 being at the top."""
        return self._stack[-depth] if 0 < depth <= len(self._stack) else None

    def value(self, depth: int) -> object:
        """The value this deep in the stack, 1 being at the top; UNKNOWN where it cannot be told."""
        if depth > len(self._stack):
            return UNKNOWN
        code = self._code
        if accelerator is not None:
            count = len(variables(code))
            found = accelerator.frame_values(self.frame, count + len(self._stack) - depth, 1)
            if found is not None:
                return MISSING if found[0] is self.frame else found[0]
        return self.evaluate(self.expression(depth))

    def evaluate(self, expression: Expression) -> object:
        """What an expression means now; a value that was read before may have changed since."""
        if expression is None or expression[0] == "result":
            return UNKNOWN
        kind = expression[0]
        frame = self.frame
        if kind == "constant":
            return expression[1]
        if kind in ("local", "cell"):
            found = local_value(frame, expression[1])
            return UNKNOWN if found is None else found
        if kind in ("name", "global"):
            found = frame.f_locals.get(expression[1], MISSING) if kind == "name" else MISSING
            if found is MISSING:
                found = frame.f_globals.get(expression[1], MISSING)
            return frame.f_builtins.get(expression[1], UNKNOWN) if found is MISSING else found
        base = self.evaluate(expression[1])
        if base is UNKNOWN:
            return UNKNOWN
        if kind == "attribute":
            value = values.attribute(base, expression[2])[2]
            return UNKNOWN if value is MISSING else value
        if kind == "item":
            value = values.item(base, self.evaluate(expression[2]))
            return UNKNOWN if value is MISSING else value
        return UNKNOWN

    # -- attributes and variables --------------------------------------------------------------------------------------

    def _attribute(self) -> Access | None:
        name, argument = self.name, self.argument
        loads = name in ("LOAD_ATTR", "LOAD_METHOD")
        key = self._code.co_names[argument >> 1 if name == "LOAD_ATTR" and ATTR_HAS_METHOD_BIT else argument]
        thing = self.value(1)
        does = READS if loads else STORES if "STORE" in name else DELETES
        if thing is UNKNOWN or thing is MISSING or is_done_by_class(thing, does, self.of_library):
            return None
        if key == "__dict__":
            self.names.remember_attributes(thing)
        return self.attribute(thing, self.expression(1), key, does, self.value(2) if does == STORES else UNKNOWN)

    def attribute(
        self, thing: object, expression: Expression, key: str, does: str, new: object = UNKNOWN
    ) -> Access | None:
        """An access to an attribute of a thing, which gets a new value if it is stored."""
        where, owner, value = values.attribute(thing, key)
        # What an object has of its own takes the place of its class's: whoever patches a method puts it there.
        if where == COMPUTED or (does == READS and where != INSTANCE and values.fixed(value)):
            return None
        if values.is_local(thing):
            found = MISSING if where == CLASS else value
            return None if where == CLASS and does == READS else self._of_local(thing, key, does, found, owner, new)
        of_interpreter = values.module_name(type(thing)) in ("builtins", "_thread", "_io")
        if where in (ABSENT, CLASS) and of_interpreter and not values.isinstance_of_type(thing):
            return None
        if does != READS:
            owner = thing  # what is set hides what the class has
            value = MISSING if where == CLASS and not values.isinstance_of_type(thing) else value
        if values.isinstance_of_type(owner):
            of = values.class_name(owner)  # type: ignore[arg-type]  # it is a class
        elif type(owner) is values.ModuleType:
            of = str(values.own_values(owner).get("__name__", "module"))  # type: ignore[union-attr]
        else:
            of = values.class_name(type(owner))
        by_instance = where == CLASS and does == READS and not values.isinstance_of_type(thing)
        self.through = thing if by_instance else None
        access = Access(does, ATTRIBUTE, owner, key, f"{of}.{key}")
        access.old = value
        if does == STORES:
            access.new = new
            access.again = (thing, key)
            self.names.remember(access.new, access.name, ATTRIBUTE, owner, key)
        elif does == DELETES:
            access.new = MISSING
        else:
            self.names.remember(value, access.name, ATTRIBUTE, owner, key)
        return access

    def _of_local(self, thing: object, key: str, does: str, value: object, mine: object, new: object) -> Access:
        """An access to what the present thread has of a thread-local object."""
        access = Access(does, LOCAL, thing, key, f"{self.names.name_of(thing)}.{key}")
        access.old = value
        if does == STORES:
            access.new = new
            access.again = (mine, key)
        elif does == DELETES:
            access.new = MISSING
        return access

    def managed(self, manager: object, expression: Expression, *, ends: bool) -> Access | None:
        """What a context manager of the library does as its ``with`` begins or ends; None for others."""
        if is_semaphore(manager):
            return use_of(manager, self.names.name_of(manager, expression), ends=ends)
        return self._redirection(manager, ends=ends)

    def _redirection(self, manager: object, *, ends: bool) -> Access | None:
        """What a context manager does to a standard stream."""
        found = redirected(manager, ends=ends)
        access = None if found is None else self.attribute(streams(), None, found[0], STORES)
        if access is not None and found is not None:
            access.new, access.again = found[1], None
        return access

    def _global(self) -> Access | None:
        name = self.name
        loads = name.startswith("LOAD")
        key = self._code.co_names[self.argument >> 1 if name == "LOAD_GLOBAL" else self.argument]
        frame = self.frame
        if name.endswith("NAME") and frame.f_locals is not frame.f_globals:
            return None  # the body of a class
        value = frame.f_globals.get(key, MISSING)
        if loads and (value is MISSING or values.fixed(value)):
            return None
        access = Access(READS if loads else STORES if "STORE" in name else DELETES, GLOBAL, frame.f_globals, key, key)
        access.old = value
        if access.does == STORES:
            access.new = self.value(1)
            if values.fixed(access.new):
                return None
            self.names.remember(access.new, key, GLOBAL, frame.f_globals, key)
        elif loads:
            self.names.remember(value, key, GLOBAL, frame.f_globals, key)
        else:
            access.new = MISSING
        return access

    def _cell(self) -> Access | None:
        name = self.name
        key = variables(self._code)[self.argument]
        cell: Any = UNKNOWN
        if accelerator is not None:
            found = accelerator.frame_values(self.frame, self.argument, 1)
            cell = UNKNOWN if found is None else found[0]
        value: object = local_value(self.frame, key)
        if type(cell) is _CELL:
            try:
                value = cell.cell_contents
            except ValueError:
                value = MISSING
        if values.fixed(value):
            return None
        does = READS if name.startswith("LOAD") else STORES if "STORE" in name else DELETES
        holder = self._code.co_qualname.partition(".<locals>")[0] if cell is UNKNOWN else cell
        access = Access(does, CELL, holder, key, key)
        access.old = value
        if does == STORES:
            access.new = self.value(1)
            self.names.remember(access.new, key)
        elif does == READS:
            self.names.remember(value, key)
        return access

    # -- containers ------------------------------------------------------------------------------------------------

    def _subscript(self) -> Access | None:
        reads = self.name == "BINARY_SUBSCR"
        expression, key = self.expression(2), self.value(1)
        container = self.standing_for(self.value(2), expression, key)
        access = self.item(container, expression, key, READS if reads else STORES if "STORE" in self.name else DELETES)
        if access is not None and access.does == STORES:
            access.new = arrays.plain(self.value(3))
            access.again = None if arrays.is_array(container) else (container, key)
            access.late = values.is_a(container, dict) and values.compared_by_program(key)
            if access.late:
                access.looked_up, access.again = key, None
            holder = container if access.sort == ITEM else access.holder
            self.names.remember(access.new, access.name, access.sort, holder, key)
        elif access is not None and reads:
            access.looked_up = key
        return access

    def call(self) -> Access | None:
        """What a call does; see call.py."""
        raise NotImplementedError

    def next_of(self, generator: Any, expression: Expression) -> Access:
        """The next of a generator, which one thread at a time can ask for."""
        access = Access(CALLS, OBJECT, generator, "", self.names.name_of(generator, expression))
        access.reads = access.writes = True
        access.detail = "next()"
        if generator.gi_running:
            access.old = MISSING
        return access

    def item(self, container: object, expression: Expression, key: object, does: str) -> Access | None:
        """An access to one item of a container that can change."""
        container = self.standing_for(container, expression, key)
        if arrays.is_array(container):
            return self.element(container, expression, key, does)
        if inside(container) is not None:
            text = values.key_text(key)
            access = Access(does, ITEM, container, text, f"{self.names.name_of(container, expression)}[{text}]")
            access.old = found_in(container, key)
            if does == DELETES:
                access.new = MISSING
            return access
        if values.size(container) is None or values.exactly(container, *_UNCHANGING):
            return None
        if type(key) is slice:
            return self.whole(container, expression, does)
        text = values.key_text(key)
        if type(key) is int and key < 0 and values.is_a(container, list, deque):
            text = str(key + (values.size(container) or 0))
        name = f"{self.names.name_of(container, expression)}[{text}]"
        access = Access(does, ITEM, container, text, name)
        if type(key) is str:
            access = self._variable_in(container, key, does) or access
        access.old = values.item(container, key)
        if does == DELETES:
            access.new = MISSING
        elif does == READS:
            self.names.remember(access.old, access.name, access.sort, access.holder, key)
        return access

    def _variable_in(self, variables: object, name: str, does: str) -> Access | None:
        """An access to a global variable or an attribute through the dictionary of all; None if it is none of those."""
        if variables is self.frame.f_globals:
            return Access(does, GLOBAL, variables, name, name)
        thing = self.names.whose_attributes(variables)
        of = values.class_name(type(thing))
        return None if thing is None else Access(does, ATTRIBUTE, thing, name, f"{of}.{name}")

    def element(self, array: object, expression: Expression, key: object, does: str) -> Access:
        """An access to an element of an array, or to several of them."""
        name, holder = self.names.name_of(array, expression), arrays.owner(array)
        found = arrays.element(array, key)
        if found is None:
            return Access(does, WHOLE, holder, "", name)
        where, text, value = found
        access = Access(does, ITEM, holder, where, f"{name}[{text}]")
        access.old = value
        return access

    def _containment(self) -> Access | None:
        expression, thing = self.expression(1), self.value(2)
        container = self.standing_for(self.value(1), expression, thing)
        of_library = inside(container) is not None
        if of_library or values.is_a(container, dict, set):
            access = self.item(container, expression, thing, CHECKS)
        else:
            access = self.whole(container, expression, CHECKS)
        if access is not None and of_library:
            access.new, access.detail = access.old, "in"
            access.old = access.old is not MISSING
        elif access is not None:
            found = values.contains(container, thing)
            access.old = UNKNOWN if found is None else found
            access.detail = f"{values.text_of(thing)} in" if access.sort == WHOLE else "in"
        return access

    def whole(self, container: object, expression: Expression, does: str) -> Access | None:
        """An access to all of a built-in container that can change."""
        container = self.standing_for(container, expression)
        content = inside(container)
        content = container if content is None else content
        if values.size(content) is None or values.exactly(content, *_UNCHANGING):
            return None
        access = Access(does, WHOLE, container, "", self.names.name_of(container, expression))
        access.old = content
        return access

    def standing_for(self, container: object, expression: Expression, key: object = MISSING) -> object:
        """The container that is meant by one: that inside of it, if the standard library writes it in Python."""
        found = held(container, key)
        if found is None:
            return container
        holder, attribute, content = found
        sort = ATTRIBUTE if attribute else ""
        self.names.remember(content, self.names.name_of(container, expression), sort, holder, attribute)
        return content
