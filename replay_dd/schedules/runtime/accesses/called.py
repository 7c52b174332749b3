"""What a function or method that is called is: its name, its module, its arguments in short."""

from __future__ import annotations

from . import values
from .own_items import class_of_method

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_OF_CYTHON = "cython_function_or_method"  # of a type that each compiled module shares


def listed(arguments: list[Any]) -> str:
    """Arguments in short."""
    return ", ".join(values.text_of(one) or values.class_name(type(one)) for one in arguments)


def module_of(function: object) -> str:
    """The module of a function; empty if it is not known."""
    if not values.exactly(function, values.FunctionType, values.BuiltinFunctionType):
        return ""
    module = getattr(function, "__module__", "")
    return module if type(module) is str else ""


def module_of_method(own: object, function: object, name: str) -> str:
    """The module of a method, or else of the class that has it.

    Args:
        own: the object whose method it is.
        function: the method.
        name: of the method.
    """
    return module_of(function) or values.module_name(class_of_method(type(own), function, name) or type(own))


def compiled_name(function: Any) -> str:
    """The name of a function that Cython has compiled; empty of any other one."""
    name = function.__name__ if values.type_name(type(function)) == _OF_CYTHON else ""
    return name if type(name) is str else ""


def name_of(function: object) -> str:
    """The name of a function; empty if it is not known."""
    name = getattr(function, "__name__", "") if values.fixed(function) else ""
    return name if type(name) is str else ""
