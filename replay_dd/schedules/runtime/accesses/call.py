"""What a call does to containers, files, databases and the library's objects."""

from __future__ import annotations

import os
import sys
from _collections import deque  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly

from ..compat import NULL_ABOVE_GLOBAL, STAR_CALL_HAS_FLAG
from ..points.all_attributes import MOST
from . import contents, values
from .access import CALLS, DATABASE, DELETES, FILE, ITEM, ITERATES, OBJECT, READS, STORES, WHOLE, Access
from .all_attributes import attributes_found, viewed
from .arrays import is_array, owner
from .asked_of_loop import asked_of_loop, bound
from .called import compiled_name, listed, module_of, module_of_method, name_of
from .closable import is_closed_database, is_socket, of_socket
from .contexts import entered, is_variable, of_variable, use_of
from .files import of_file, of_open_file
from .given_streams import of_given_streams
from .instruction import Instruction
from .library_containers import inside
from .loops import is_loop, of_loop, takes_callbacks
from .memoised import look_for_result
from .methods import asks_for_file, effect_of, effect_of_function, on_whole
from .outside_loop import is_outside_of_loop, of_call_outside
from .own_attributes import is_done_by_class, plain_access
from .own_items import ITEM_METHODS, WHOLE_METHODS, called_of_container, is_gone_through_by_class
from .printing import place_of_file, printed_to
from .rows import rows_written
from .taking import is_iterator, taken_from, takes
from .values import MISSING, UNKNOWN
from .whole_process import is_relative, of_system, of_threads, reads_directory, started, streams

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from .operands import Expression

_KEYED = ("get", "pop", "setdefault", "move_to_end", "__getitem__", "__setitem__")
_TAKES_ALL_OF = ("extend", "extendleft", "update", "union", "difference", "intersection")
_CHANGES_ARRAY = ("fill", "sort", "put", "partition", "resize", "byteswap", "setfield")
_FILES = ("_io", "io")
_TABLES = ("_csv", "csv", "_pickle")
_WRITING_SQL = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "COMMIT", "END", "ROLLBACK")
_NO_DATA = ("BEGIN", "SAVEPOINT", "PRAGMA")


class AnyInstruction(Instruction):
    """One instruction that is about to run; it may be a call."""

    _asks = False  # a loop, which then does it itself
    _context: object = None  # of `contextvars`, which the call enters or lets the library enter

    def call(self) -> Access | None:
        """What a call does, if it is of something built in; what others do is seen in their own code."""
        access = self._with_attributes(self._what_it_does())
        if self._context is None:
            return access
        use = use_of(self._context, self.names.name_of(self._context))
        if access is not None and not self.also:
            self.also = [use]
        return access or use

    def _with_attributes(self, access: Access | None) -> Access | None:
        """What a call finds in a dictionary of attributes, as the attributes; anything else as it is."""
        if access is None:
            return None
        told: list[Access] = []
        for one in (*self.also, access):
            found = attributes_found(one, self.names.whose_attributes(one.holder))
            told += [each for each in (self.item(one.holder, None, name, READS) for name in found) if each] or [one]
        self.also = told[:-1]
        return told[-1]

    def _what_it_does(self) -> Access | None:
        if self.name == "CALL_FUNCTION_EX":  # one value for all arguments, and one for those with names
            count, extra = 1, self.argument & 1 if STAR_CALL_HAS_FLAG else 1
        else:
            count, extra = self.argument, 1 if self.name == "CALL_KW" else 0
        lower, upper = self.value(count + extra + 2), self.value(count + extra + 1)
        function, own = (
            (lower, upper) if NULL_ABOVE_GLOBAL else (upper, MISSING) if lower is MISSING else (lower, upper)
        )
        arguments = [self.value(depth + extra) for depth in range(count, 0, -1)]
        expressions = [self.expression(depth + extra) for depth in range(count, 0, -1)]
        given: Any = arguments[0] if self.name == "CALL_FUNCTION_EX" else None
        if values.exactly(given, tuple, list):
            arguments = list(given)
            expressions = [None] * len(arguments)
        name = ""
        own_expression = None
        if function is UNKNOWN:  # without the stack: as the bytecode names it
            expression = self.expression(count + extra + 2) or self.expression(count + extra + 1)
            if expression is not None and expression[0] == "method":
                own_expression, name = expression[1], expression[2]
                own = self.evaluate(own_expression)
            elif expression is not None:
                function, own = self.evaluate(expression), MISSING
        plain = plain_access(function, own, arguments)
        if plain is not None:
            thing, key, does, new = plain
            return self.attribute(thing, None, key, does, new)
        of_container = called_of_container(function, own, arguments)
        if of_container is not None:
            name, own, is_argument = of_container
            if is_argument:
                return self.method_of_container(own, expressions[0], name, arguments[1:], expressions[1:])
            receiver = own_expression or self._receiver(count + extra)
            return self.method_of_container(own, receiver, name, arguments, expressions)
        if values.exactly(function, values.BuiltinFunctionType, values.MethodDescriptorType):
            name = function.__name__  # type: ignore[attr-defined]
            if type(function) is values.BuiltinFunctionType and type(function.__self__) is not values.ModuleType:  # type: ignore[attr-defined]
                own = function.__self__  # type: ignore[attr-defined]
        elif type(function) is values.MethodType:
            function, own = function.__func__, function.__self__  # type: ignore[attr-defined]
            name = name_of(function)
        elif type(function) is values.FunctionType:
            name = name_of(function)
        elif values.isinstance_of_type(function) and values.module_name(function) == "builtins":  # type: ignore[arg-type]
            name = values.type_name(function)  # type: ignore[arg-type]
        own_code = type(function) is values.FunctionType and not self.of_library(function.__code__.co_filename)
        if own_code and not _is_own_generator(own):  # whose `seed` is one of ours
            return None  # what it does is seen in its own code
        self._context = entered(own, name, arguments)
        if values.is_reference(function):
            return self._referent(function, self.expression(count + extra + 2) or self.expression(count + extra + 1))
        memoised = look_for_result(function, own, arguments) if self.name == "CALL" else None
        if memoised is not None:
            return memoised
        name = name or (compiled_name(function) if takes_callbacks(own) else "")
        if not name:
            return of_threads(function)
        if own is MISSING or own is UNKNOWN:
            return self._call_of_builtin(name, function, arguments, expressions)
        module = module_of_method(own, function, name)
        receiver = own_expression or self._receiver(count + extra)
        return self._call_of_method(own, receiver, name, arguments, expressions, module)

    def _receiver(self, count: int) -> Expression:
        for depth in (count + 2, count + 1):
            expression = self.expression(depth)
            if expression is not None:
                return expression[1] if expression[0] == "method" else expression
        return None

    def _call_of_builtin(
        self, name: str, function: object, arguments: list[Any], expressions: list[Any]
    ) -> Access | None:
        if arguments and asks_for_file(module_of(function), name):
            self.also = [reads_directory()] if is_relative(arguments[0]) else []
            return of_file(arguments[0], name, (True, False))
        shared = of_system(module_of(function), name, arguments) or of_threads(function)
        if shared is not None:
            return shared
        if name == "next" and arguments and values.exactly(arguments[0], values.GeneratorType):
            return self.next_of(arguments[0], expressions[0])
        if name == "next" and arguments and is_iterator(arguments[0]):
            gone_through = self.whole(values.iterated(arguments[0]), expressions[0], ITERATES)
            self.also = [] if gone_through is None else [gone_through]
            return taken_from(arguments[0], "next", self.names.name_of(arguments[0], expressions[0]))
        if name == "getenv" and module_of(function) == "os" and arguments:
            return self._variable(arguments[0])
        if name == "print" and self.name in ("CALL", "CALL_KW"):
            at = place_of_file(self.value(1) if self.name == "CALL_KW" else self.keywords, len(arguments))
            if at >= 0 and arguments[at] is not None:
                return printed_to(arguments[at], self.names.name_of(arguments[at], expressions[at]))
            return self.attribute(streams(), None, "stdout", READS)
        if module_of(function) != "builtins" and not values.isinstance_of_type(function):
            return self._call_of_library(name, function, arguments, expressions)
        if name in ("getattr", "hasattr", "setattr", "delattr") and len(arguments) > 1 and type(arguments[1]) is str:
            does = {"setattr": STORES, "delattr": DELETES}.get(name, READS)
            if is_done_by_class(arguments[0], does, self.of_library):
                return None
            new = arguments[2] if does == STORES and len(arguments) > 2 else UNKNOWN
            return self.attribute(arguments[0], expressions[0], arguments[1], does, new)
        if name == "vars" and arguments:
            self.names.remember_attributes(arguments[0])
        if arguments and on_whole(name) and not is_gone_through_by_class(arguments[0], name, self.of_library):
            access = self.whole(viewed(arguments[0]), expressions[0], READS)
            if access is not None:
                access.detail = f"{name}()"
                access.old = values.size(access.old) if name == "len" else access.old
            return access
        return None

    def _call_of_library(
        self, name: str, function: object, arguments: list[Any], expressions: list[Any]
    ) -> Access | None:
        """A function of the standard library that gets an event loop, a stream or a container: what it does there."""
        self.also = of_given_streams(name, arguments, expressions, self.names)
        for argument, expression in zip(arguments, expressions, strict=True):
            if is_loop(argument):
                return of_loop(argument, name, self.names.name_of(argument, expression))
            access = self.whole(argument, expression, CALLS)
            if access is not None:
                effect = effect_of_function(module_of(function), name)
                access.reads, access.writes = effect or (True, False)
                access.detail = f"{name}()"
                access.again = (argument,)
                access.before = contents.content(argument) if effect is None else None
                return access
        return self._last_of_also()

    def _last_of_also(self) -> Access | None:
        *self.also, access = self.also or [None]  # type: ignore[list-item]
        return access

    def _call_of_method(
        self,
        own: object,
        expression: Expression,
        name: str,
        arguments: list[Any],
        expressions: list[Any],
        module: str,
    ) -> Access | None:
        own = self.standing_for(own, expression, arguments[0] if arguments else MISSING)
        if values.is_a(own, dict, list, set, deque) or inside(own) is not None:
            return self.method_of_container(own, expression, name, arguments, expressions)
        if module in _FILES:
            called = self.names.name_of(own, expression)
            of_content = of_open_file(own, name, called)
            if of_content is not None and of_content.sort == FILE and takes(name):
                self.also = [taken_from(own, name, called)]
            return of_content
        if module in _TABLES:
            return rows_written(own, name, self.names.name_of(own, expression))
        if is_socket(own):  # whoever's function waits for it
            return of_socket(own, name, self.names.name_of(own, expression))
        if is_variable(own):
            return of_variable(own, name, arguments, self.names.name_of(own, expression))
        if not self._asks and is_outside_of_loop(own, name):
            return of_call_outside(own, name, self.names.name_of(own, expression))
        if takes_callbacks(own):
            methods = [bound(one, way, self.evaluate) for one, way in zip(arguments, expressions, strict=True)]
            self.also = asked_of_loop(own, name, methods, expressions, self._of_callback, self.of_library)
            return of_loop(own, name, self.names.name_of(own, expression)) if is_loop(own) else self._last_of_also()
        if module == "sqlite3" and name == "__exit__":  # what `with connection:` did is seen by others from here on
            name, arguments = "commit", []
        if module == "sqlite3" and name in ("execute", "executemany", "commit", "rollback"):
            connection = self._connection(own, expression, name)
            statement = arguments[0].strip() if arguments and type(arguments[0]) is str else name
            if _is_about_no_data(statement.upper()):
                return connection
            self.also = [connection]
            access = Access(CALLS, DATABASE, DATABASE, "", "the database")
            access.detail = f"{name}({values.text_of(statement)})" if arguments else f"{name}()"
            access.writes = statement.upper().startswith(_WRITING_SQL) or name in ("commit", "rollback")
            access.reads = not access.writes
            return access
        if module == "sqlite3" and name == "close":
            return self._connection(own, expression, name)
        if is_array(own):
            access = Access(CALLS, WHOLE, owner(own), "", self.names.name_of(own, expression))
            access.writes = name in _CHANGES_ARRAY
            access.reads, access.detail = not access.writes, f"{name}()"
            return access
        if name == "__exit__":
            return self.managed(own, expression, ends=True)
        effect = effect_of(module, name)
        if effect is None:
            self.also = of_given_streams(name, arguments, expressions, self.names)
            return self._last_of_also()
        if module.endswith("random") and not _is_own_generator(own):
            return None
        if module.startswith("pathlib"):
            return of_file(own, name, effect)
        if module == "threading" and name == "start":
            self.also = [started(own)]
        access = Access(CALLS, OBJECT, own, "", self.names.name_of(own, expression))
        counts = name == "wait" and values.type_name(type(own)) == "Barrier"  # who waits there
        access.reads, access.writes = effect[0], effect[1] or counts
        access.detail = f"{name}({listed(arguments)})"
        access.old = UNKNOWN if counts else values.state(own)
        return access

    def _of_callback(
        self, own: object, expression: Expression, name: str, arguments: list[Any], module: str
    ) -> Access | None:
        self._asks = True
        return self._call_of_method(own, expression, name, arguments, [None] * len(arguments), module)

    def _referent(self, reference: object, expression: Expression) -> Access:
        """What a weak reference refers to, which is gone once nobody else refers to it."""
        access = Access(READS, ITEM, reference, "", f"{self.names.name_of(reference, expression)}()")
        access.old = access.new = values.referent(reference)
        return access

    def _variable(self, name: object) -> Access | None:
        """A look at a variable of the environment."""
        access = self.item(os.environ, ("name", "environ"), name, CALLS)
        if access is not None:
            access.reads, access.detail = True, f"getenv({values.text_of(name)})"
        return access

    def _connection(self, own: object, expression: Expression, name: str) -> Access:
        """A call of a connection to a database, which needs it to be open."""
        access = Access(CALLS, OBJECT, own, "", self.names.name_of(own, expression))
        access.reads, access.writes = name != "close", name == "close"
        access.detail = f"{name}()"
        if access.writes:
            self.names.remember_closed(own)
        elif is_closed_database(own, self.names.closed):
            access.old = MISSING
        return access

    def method_of_container(
        self, own: object, expression: Expression, name: str, arguments: list[Any], expressions: list[Any]
    ) -> Access | None:
        """What a method that a built-in container has does to it, whoever has called it."""
        if name in ITEM_METHODS and arguments:
            return self.item_of(own, expression, arguments[0], ITEM_METHODS[name], arguments[-1])
        if name in WHOLE_METHODS:
            begins = WHOLE_METHODS[name] == ITERATES
            return self.begins(own, expression) if begins else self.whole(own, expression, WHOLE_METHODS[name])
        return self._container_method(own, expression, name, arguments, expressions)

    def _container_method(
        self, own: Any, expression: Expression, name: str, arguments: list[Any], expressions: list[Any]
    ) -> Access | None:
        effect = effect_of("builtins", name)
        if effect is None:
            return None
        stored = self._attributes_stored(own, arguments) if name == "update" else []
        if stored:
            self.also = stored[:-1]
            return stored[-1]
        access: Access | None
        content = inside(own)
        content = own if content is None else content
        keyed = values.is_a(content, dict) and name in _KEYED
        keyed = keyed or (values.is_a(content, set) and name in ("add", "discard", "remove"))
        if keyed and arguments:
            access = self.item(own, expression, arguments[0], CALLS)
        else:
            access = self.whole(own, expression, CALLS)
        if access is None:
            return None
        access.reads, access.writes = effect
        access.detail = f"{name}({listed(arguments)})"
        if access.sort == WHOLE:
            if name in _TAKES_ALL_OF and arguments:
                taken = self.whole(arguments[0], expressions[0], READS)
                self.also = [] if taken is None else [taken]
            ends = {"pop": -1, "popleft": 0}
            if name in ends and not values.is_a(content, dict) and not arguments:
                access.old = values.item(content, ends[name])
            if access.writes:
                access.again = (content,)
        else:
            access.writes = access.writes and not (name == "setdefault" and access.old is not MISSING)
            if name == "setdefault":
                access.new = arguments[1] if len(arguments) > 1 else None
                found = access.new if access.old is MISSING else access.old
                self.names.remember(found, access.name, access.sort, access.holder, arguments[0])
            elif name in ("pop", "discard", "remove"):
                access.new = MISSING
            elif name == "move_to_end":
                access.new = access.old
            elif name == "add":
                access.new = arguments[0]
            else:
                self.names.remember(access.old, access.name, access.sort, access.holder, arguments[0])
        return access

    def _attributes_stored(self, own: Any, arguments: list[Any]) -> list[Access]:
        """What `vars(thing).update({...})` stores there; empty if these are not the attributes of a thing."""
        named: Any
        if self.name == "CALL_FUNCTION_EX":
            named = self.value(1)
        else:
            names: Any = self.value(1) if self.name == "CALL_KW" else self.keywords
            count = len(arguments) - len(names)
            arguments, named = arguments[:count], dict(zip(names, arguments[count:], strict=True))
        stores: list[Access] = []
        for given in (*arguments, named):
            for key, value in given.items() if values.exactly(given, dict) else ():
                store = self.item(own, None, key, STORES) if len(stores) < MOST else None
                if store is None or store.sort == ITEM:
                    return []
                store.new = value
                self.names.remember(value, store.name, store.sort, store.holder, key)
                stores.append(store)
        return stores


def _is_own_generator(thing: object) -> bool:
    """Whether this is a generator of random numbers that the program has made; all share that of the module itself."""
    variables = getattr(sys.modules.get("random"), "__dict__", {})
    return values.exactly(thing, variables.get("Random", type(None))) and thing is not variables.get("_inst")


def _is_about_no_data(statement: str) -> bool:
    """Whether a statement in capitals neither reads nor writes what others write."""
    return statement.startswith(_NO_DATA) or (statement.startswith("SELECT") and "FROM" not in statement)
