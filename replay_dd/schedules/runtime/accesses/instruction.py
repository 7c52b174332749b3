"""What an instruction does to attributes, variables and containers.

Rules of this module:

* An access is described just before its instruction runs, by the thread that runs it. Nobody else runs in between.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]

from ..compat import ITERATOR_PLACES
from . import arrays, values
from .access import ATTRIBUTE, CHECKS, DELETES, ITEM, ITERATES, READS, STORES, WHOLE, Access
from .all_attributes import next_attribute
from .library_containers import found_in, held, inside, iterated_in
from .own_items import is_item_done_by_class
from .semaphores import is_semaphore, use_of
from .shared_arrays import array_iterated, array_kept, element_kept
from .taking import taken_from
from .values import MISSING, UNKNOWN
from .variables import VariableInstruction
from .whole_process import redirected, streams

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .operands import Expression

_UNCHANGING = (str, bytes, tuple, frozenset)


class Instruction(VariableInstruction):
    """One instruction that is about to run.

    Attributes:
        also: what else it accesses.
    """

    also: Sequence[Access] = ()

    def access(self) -> Access | None:
        """What it does; None if it touches nothing that could be shared."""
        name = self.name
        if name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"):
            return self.attribute_of_instruction()
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME"):
            return self.global_variable()
        if name in ("LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF"):
            return self.cell()
        if name in ("BINARY_SUBSCR", "STORE_SUBSCR", "DELETE_SUBSCR"):
            return self._subscript()
        if name in ("BINARY_SLICE", "STORE_SLICE"):
            base = self.value(3)
            return self.whole(base, self.expression(3), STORES if name == "STORE_SLICE" else READS)
        if name == "CONTAINS_OP":
            if is_item_done_by_class(self.value(1), CHECKS, self.of_library):
                return None
            return self._containment(self.value(1), self.expression(1), self.value(2))
        if name == "FOR_ITER":
            iterator, expression = self.value(ITERATOR_PLACES), self.expression(ITERATOR_PLACES)
            if values.exactly(iterator, values.GeneratorType):
                of_library = self.whole(iterated_in(iterator.gi_frame), expression, ITERATES)  # type: ignore[attr-defined]
                return of_library or self.next_of(iterator, expression)
            container = array_iterated(iterator) or values.iterated(iterator)
            key = next_attribute(iterator, self.names.whose_attributes(container))
            return (
                self.whole(container, expression, ITERATES) if key is None else self.item(container, None, key, READS)
            )
        if name == "RETURN_VALUE":  # of `__iter__`: whoever asked goes on with it
            return self.begins(values.iterated(self.value(1)), self.expression(1))
        if name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            return self.call()
        if name == "BEFORE_WITH":
            return self.managed(self.value(1), self.expression(1), ends=False)
        return None

    def _subscript(self) -> Access | None:
        does = READS if self.name == "BINARY_SUBSCR" else STORES if "STORE" in self.name else DELETES
        if is_item_done_by_class(self.value(2), does, self.of_library):
            return None
        return self.item_of(self.value(2), self.expression(2), self.value(1), does, self.value(3))

    def item_of(
        self, container: object, expression: Expression, key: object, does: str, new: object = UNKNOWN
    ) -> Access | None:
        """What an operator does to an item of a container, or the method that stands for the operator.

        Args:
            container: the container.
            expression: how it is called.
            key: of the item.
            does: stores, deletes, reads or checks.
            new: the value that is stored.
        """
        if does == CHECKS:
            return self._containment(container, expression, key)
        container = self.standing_for(container, expression, key)
        access = self.item(container, expression, key, does)
        if access is not None and access.does == STORES:
            access.new = arrays.plain(new)
            is_outside = arrays.is_array(container) or array_kept(container) is not None
            access.again = None if is_outside else (container, key)
            access.late = values.is_a(container, dict) and values.compared_by_program(key)
            if access.late:
                access.looked_up, access.again = key, None
            holder = container if access.sort == ITEM else access.holder
            self.names.remember(access.new, access.name, access.sort, holder, key)
        elif access is not None and does == READS:
            access.looked_up = key
        return access

    def call(self) -> Access | None:
        """What a call does; see call.py."""
        raise NotImplementedError

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

    def next_of(self, generator: Any, expression: Expression) -> Access:
        """The next of a generator, which one thread at a time can ask for."""
        access = taken_from(generator, "next", self.names.name_of(generator, expression))
        if generator.gi_running:
            access.old = MISSING
        return access

    def item(self, container: object, expression: Expression, key: object, does: str) -> Access | None:
        """An access to one item of a container that can change."""
        container = self.standing_for(container, expression, key)
        if arrays.is_array(container):
            return self.element(container, expression, key, does)
        if array_kept(container) is not None and type(key) is int:
            index, found = element_kept(container, key)
            access = Access(does, ITEM, container, str(index), f"{self.names.name_of(container, expression)}[{index}]")
            access.old = found
            return access
        if inside(container) is not None:
            text = values.key_text(key)
            access = Access(does, ITEM, container, text, f"{self.names.name_of(container, expression)}[{text}]")
            access.old = found_in(container, key)
            if does == DELETES:
                access.new = MISSING
            return access
        if type(key) is slice:
            return self.whole(container, expression, does)
        if values.size(container) is None or values.exactly(container, *_UNCHANGING):
            return None
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
            return self.variable_of_module(variables, name, does)
        thing = self.names.whose_attributes(variables)
        if values.is_module(thing):
            return self.variable_of_module(variables, name, does) if self.is_of_program(thing) else None
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

    def _containment(self, container: object, expression: Expression, thing: object) -> Access | None:
        container = self.standing_for(container, expression, thing)
        of_library = inside(container) is not None
        if of_library or values.is_a(container, dict, set):
            access = self.item(container, expression, thing, CHECKS)
        else:
            access = self.whole(container, expression, CHECKS)
        if access is not None and of_library:
            access.new, access.detail = access.old, "in"
            access.old = access.old is not MISSING
        elif access is not None and access.sort == WHOLE:
            found = values.contains(container, thing)
            access.old = UNKNOWN if found is None else found
            access.detail = f"{values.text_of(thing)} in"
        elif access is not None:
            access.old = UNKNOWN if access.old is UNKNOWN else access.old is not MISSING
            access.detail = "in"
        return access

    def begins(self, container: object, expression: Expression) -> Access | None:
        """To begin to go through a container."""
        access = self.whole(container, expression, ITERATES)
        if access is not None:
            access.detail = "begins"
        return access

    def whole(self, container: object, expression: Expression, does: str) -> Access | None:
        """An access to all of a built-in container that can change."""
        container = self.standing_for(container, expression)
        content = inside(container)
        content = container if content is None else content
        unknown = values.size(content) is None and array_kept(content) is None
        if unknown or values.exactly(content, *_UNCHANGING):
            return None
        access = Access(does, WHOLE, container, "", self.names.name_of(container, expression))
        access.old = content
        return access

    def standing_for(self, container: object, expression: Expression, key: object = MISSING) -> object:
        """The container that is meant by one: that inside of it, if the standard library writes it in Python."""
        found = held(container, key)
        if found is None:
            array = array_kept(container)
            if array is None or array is container:
                return container
            found = container, "", array
        holder, attribute, content = found
        sort = ATTRIBUTE if attribute else ""
        self.names.remember(content, self.names.name_of(container, expression), sort, holder, attribute)
        return content
