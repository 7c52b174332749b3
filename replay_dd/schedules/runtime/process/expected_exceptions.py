"""Exceptions that end a thread although its test expects them.

A test may let a thread end with an exception, and tell pytest not to warn of that: by a mark, an option or its
configuration. pytest warns when the test is over, by the filters that hold while it runs, so these tell it before.
"""

from __future__ import annotations

import sys

from ..compat import CONTEXT_OF_THREAD
from ..warning_filters import filters_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def pytest_ignores_exceptions(thread: Any) -> bool:
    """Whether pytest will not warn of an exception that ends a thread, by the first filter that is about it.

    Args:
        thread: the ``threading.Thread``; its name begins the warning.
    """
    if "_pytest.threadexception" not in sys.modules:
        return False
    category = sys.modules["_pytest.warning_types"].PytestUnhandledThreadExceptionWarning
    warnings: Any = sys.modules["warnings"]
    context = getattr(thread, CONTEXT_OF_THREAD, None)  # that of the test, which the thread has already left
    filters = filters_of(warnings) if context is None else context.run(filters_of, warnings)
    text = f"Exception in thread {thread.name}"
    for action, message, of_category, module, line in filters:
        about_it = issubclass(category, of_category) and module is None and not line
        if about_it and (message is None or message.match(text)):
            return bool(action == "ignore")
    return False
