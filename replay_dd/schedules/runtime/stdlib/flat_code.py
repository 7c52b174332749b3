"""Code as bytes that are equal for equal code, wherever its parts come from, and code out of such bytes."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

_FORMAT = 2  # of marshal; later ones tell which objects are referred to from elsewhere
_SLICE = "a slice, by replay-dd"  # begins the tuple that stands for one


def flat(code: CodeType) -> bytes:
    """The bytes of code; raises ValueError if it has constants that the compiler does not make."""
    try:
        return marshal.dumps(code, _FORMAT)
    except ValueError:  # slices may be constants (3.14), and the format has none
        return marshal.dumps(_changed(code, _without_slices), _FORMAT)


def unflat(data: bytes) -> CodeType:
    """The code that :func:`flat` made these bytes of."""
    code: CodeType = marshal.loads(data)
    return _changed(code, _with_slices) if _SLICE.encode() in data else code


def _changed(code: CodeType, change: Callable[[Any], object]) -> CodeType:
    """Code with each constant changed, and so on inwards."""
    return code.replace(co_consts=tuple([change(constant) for constant in code.co_consts]))


def _without_slices(constant: Any) -> object:
    if type(constant) is slice:
        return (_SLICE, *[_without_slices(part) for part in (constant.start, constant.stop, constant.step)])
    if type(constant) is tuple:
        return tuple([_without_slices(one) for one in constant])
    return _changed(constant, _without_slices) if type(constant) is _CODE else constant


def _with_slices(constant: Any) -> object:
    if type(constant) is tuple:
        parts = [_with_slices(one) for one in constant]
        return slice(*parts[1:]) if parts[:1] == [_SLICE] else tuple(parts)
    return _changed(constant, _with_slices) if type(constant) is _CODE else constant


_CODE = type(flat.__code__)
