"""The filters of the module ``warnings``."""

from __future__ import annotations

from .compat import FILTERS_OF_CONTEXT

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def filters_of(warnings: Any) -> list[Any]:
    """The filters that hold here: those of the context, where interpreters can have them there."""
    of_context = getattr(warnings, FILTERS_OF_CONTEXT, None)
    filters: list[Any] = warnings.filters if of_context is None else of_context()
    return filters
