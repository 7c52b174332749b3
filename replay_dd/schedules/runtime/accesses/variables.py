"""What an instruction does to attributes and variables.

Rules of this module:

* The global variables of a module of the program are the same things wherever they are accessed from: as variables in
  its own code, as its attributes elsewhere, as items of their dictionary.
"""

from __future__ import annotations

from ..accelerator import accelerator
from ..compat import ATTR_HAS_METHOD_BIT
from ..observing import local_value
from . import values
from .access import ATTRIBUTE, CELL, DELETES, GLOBAL, LOCAL, OBJECT, READS, STORES, Access
from .made_locals import note_if_made
from .methods import effect_of
from .operands import variables
from .own_attributes import computed_in, is_done_by_class
from .running import Running
from .shared_values import NAME, value_kept
from .values import ABSENT, CLASS, COMPUTED, INSTANCE, MISSING, SLOT, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from .operands import Expression

_CELL = type((lambda cell: lambda: cell)(0).__closure__[0])  # type: ignore[index]


class VariableInstruction(Running):
    """One instruction that is about to run; it may access a variable.

    Attributes:
        through: the instance whose attribute its class gave, or None.
    """

    through: object = None

    def attribute_of_instruction(self) -> Access | None:
        """What the instruction does to an attribute."""
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
        if values.is_local(thing) and values.local_values(thing) is None:
            note_if_made(thing, self.frame)
        where, owner, value = values.attribute(thing, key)
        if where == COMPUTED and key == NAME:
            return self._of_kept_value(thing, expression, does, new)
        if where == COMPUTED and does == READS:
            return self._of_library_property(thing, expression, key)
        computed = computed_in(thing, value) if where == CLASS and does == READS else ""
        if computed:
            where, owner, value = ABSENT, thing, MISSING
        # What an object has of its own takes the place of its class's: whoever patches a method puts it there.
        if where == COMPUTED or (does == READS and where != INSTANCE and values.fixed(value)):
            return None
        if values.is_local(thing):
            if where == CLASS and does == READS:  # that is one for all threads
                return self.attribute(values.in_class(type(thing), key)[0], None, key, does)
            return self._of_local(thing, key, does, MISSING if where == CLASS else value, owner, new)
        of_interpreter = values.module_name(type(thing)) in ("builtins", "_thread", "_io")
        if where in (ABSENT, CLASS) and of_interpreter and not values.isinstance_of_type(thing):
            return None
        if does != READS:
            owner = thing  # what is set hides what the class has
            value = MISSING if where == CLASS and not values.isinstance_of_type(thing) else value
        if values.is_module(owner) and where != SLOT and self.is_of_program(owner):
            return self.variable_of_module(values.own_values(owner), key, does, new)
        if values.isinstance_of_type(owner):
            of = values.class_name(owner)  # type: ignore[arg-type]  # it is a class
        elif values.is_module(owner):
            of = str(values.own_values(owner).get("__name__", "module"))  # type: ignore[union-attr]
        else:
            of = values.class_name(type(owner))
        by_instance = where == CLASS and does == READS and not values.isinstance_of_type(thing)
        self.through = thing if by_instance else None
        access = Access(does, ATTRIBUTE, owner, key, f"{of}.{key}")
        access.old = value
        access.fills = bool(computed) and self.of_library(computed)  # and may keep it
        if does == STORES:
            access.new = new
            access.again = (thing, key)
            self.names.remember(access.new, access.name, ATTRIBUTE, owner, key)
        elif does == DELETES:
            access.new = MISSING
        else:
            self.names.remember(value, access.name, ATTRIBUTE, owner, key)
        return access

    def _of_kept_value(self, thing: object, expression: Expression, does: str, new: object) -> Access | None:
        """An access to the value that `ctypes` keeps for a thing; None if it keeps none."""
        kept = value_kept(thing)
        if kept is None:
            return None
        access = Access(does, ATTRIBUTE, kept[0], NAME, f"{self.names.name_of(thing, expression)}.{NAME}")
        access.old, access.new = kept[1], new
        return access

    def _of_library_property(self, thing: object, expression: Expression, key: str) -> Access | None:
        """A look at what code of the library computes, as a look at all of the object; None of any other property."""
        owner = values.in_class(type(thing), key)[0]
        if owner is None or effect_of(values.module_name(owner), key) != (True, False):
            return None
        access = Access(READS, OBJECT, thing, "", self.names.name_of(thing, expression))
        access.detail = key
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

    def is_of_program(self, module: object) -> bool:
        """Whether a module is one whose code is observed."""
        file = (values.own_values(module) or {}).get("__file__")
        return type(file) is str and not self.of_library(file)

    def variable_of_module(self, variables: Any, key: str, does: str, new: object = UNKNOWN) -> Access:
        """An access to a global variable, which gets a new value if it is stored.

        Args:
            variables: all of its module, by name.
            key: its name.
            does: what is done to it.
            new: the value that is stored.
        """
        access = Access(does, GLOBAL, variables, key, key)
        access.old = variables.get(key, MISSING)
        if does == STORES:
            access.new = new
            access.again = (variables, key)
        elif does == DELETES:
            access.new = MISSING
        value = access.new if does == STORES else access.old
        self.names.remember(value, key, GLOBAL, variables, key)
        return access

    def global_variable(self) -> Access | None:
        """What the instruction does to a global variable."""
        name = self.name
        loads = name.startswith("LOAD")
        key = self._code.co_names[self.argument >> 1 if name == "LOAD_GLOBAL" else self.argument]
        frame = self.frame
        if name.endswith("NAME") and frame.f_locals is not frame.f_globals:
            return None  # the body of a class
        value = frame.f_globals.get(key, MISSING)
        if loads and (value is MISSING or values.fixed(value)):
            return None
        does = READS if loads else STORES if "STORE" in name else DELETES
        new = self.value(1) if does == STORES else UNKNOWN
        return None if values.fixed(new) else self.variable_of_module(frame.f_globals, key, does, new)

    def cell(self) -> Access | None:
        """What the instruction does to a variable that functions share."""
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
