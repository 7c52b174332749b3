"""Arrays of NumPy, without loading it: which element an access is to, whatever view of the memory it goes through.

Rules of this module:

* Only arrays of exactly NumPy's own class are looked at, and only through its methods in C: none of the program's code.
* An element is known by where it lies in the memory of the array that owns that; views of it share it.
"""

from __future__ import annotations

from . import values

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_MOST_VIEWS = 20  # of views


def is_array(thing: object) -> bool:
    """Whether this is an array."""
    kind = type(thing)
    if values.type_name(kind) != "ndarray" or values.module_name(kind) != "numpy":
        return False
    return values.exactly(values.in_class(kind, "__array_interface__")[1], values.GetSetDescriptorType)


def owner(array: Any) -> Any:
    """The array whose memory this one shows."""
    for _ in range(_MOST_VIEWS):
        if not is_array(array.base):
            break
        array = array.base
    return array


def element(array: Any, key: object) -> tuple[str, str, object] | None:
    """(where an element lies in the memory of its owner, its key in words, its value); None if it is not one element.

    Args:
        array: an array.
        key: one index, or a tuple of them.
    """
    indices: tuple[Any, ...] = key if type(key) is tuple else (key,)
    shape = array.shape
    if len(indices) != len(shape) or not all(type(one) is int for one in indices):
        return None
    wanted = tuple(one + length if one < 0 else one for one, length in zip(indices, shape, strict=True))
    if not all(0 <= one < length for one, length in zip(wanted, shape, strict=True)):
        return None
    begins = _address(array) - _address(owner(array))
    offset = begins + sum(one * stride for one, stride in zip(wanted, array.strides, strict=True))
    return f"byte {offset}", ", ".join(map(str, wanted)), array.item(*wanted)


def plain(value: Any) -> object:
    """A number of NumPy as one of Python; anything else as it is."""
    kind = type(value)
    if values.module_name(kind) != "numpy" or is_array(value) or values.isinstance_of_type(value):
        return value
    of_c = values.exactly(values.in_class(kind, "item")[1], values.MethodDescriptorType)
    return value.item() if of_c else value


def _address(array: Any) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
