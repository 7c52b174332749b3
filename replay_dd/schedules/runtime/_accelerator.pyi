"""The accelerator; see counting.py for what its classes do."""

from types import CodeType

class ThreadCounts:
    time: int
    ask_at: int
    atomic: int
    hash: int
    ident: int

class Counter:
    current: ThreadCounts
    digest: int
    question: object
    stranger: object
    learn: object
    watched: frozenset[int] | None
    visits: dict[tuple[object, int], int]
    lines: int

    def __init__(self, current: ThreadCounts, disable: object) -> None: ...
    def on_instruction(self, code: CodeType, offset: int, /) -> object: ...
    def on_line(self, code: CodeType, line: int, /) -> object: ...
    def add_code(self, code: CodeType, first: int, last: int, shift: int, numbers: dict[int, int], /) -> None: ...
    def start_tracing(self) -> None: ...
    def stop_tracing(self) -> None: ...

def fork() -> int: ...
def wait_until_gone(native_id: int, /) -> None: ...
