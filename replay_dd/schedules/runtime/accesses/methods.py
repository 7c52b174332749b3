"""What the methods of the standard library's types do to their objects."""

from __future__ import annotations

_READ, _WRITE, _BOTH = (True, False), (False, True), (True, True)


def _table(reads: str, writes: str, both: str) -> dict[str, tuple[bool, bool]]:
    rows = ((reads, _READ), (writes, _WRITE), (both, _BOTH))
    return {name: effect for names, effect in rows for name in names.split()}


_CONTAINERS = _table(
    "get items keys values copy index count __getitem__ union intersection difference issubset issuperset isdisjoint "
    "most_common total",
    "append appendleft extend extendleft insert clear update add sort reverse rotate __setitem__ "
    "difference_update intersection_update symmetric_difference_update",
    "pop popleft popitem move_to_end remove discard setdefault subtract",
)
_FILES = _table(
    "read readline readlines readinto tell peek getvalue getbuffer",
    "write writelines truncate flush close seek __exit__",
    "",
)
_PATHS = _table(
    "exists is_file is_dir stat lstat read_text read_bytes iterdir glob samefile",
    "write_text write_bytes unlink rename replace touch mkdir rmdir open chmod",
    "",
)
_PATH_FUNCTIONS = frozenset(["exists", "lexists", "isfile", "isdir", "islink", "getsize", "getmtime", "stat"])
_OTHERS = {
    "threading": _table(
        "is_set wait is_alive join wait_for n_waiting broken",
        "set clear notify notify_all start cancel release abort reset",
        "acquire",
    ),
    "queue": _table("empty full qsize", "put put_nowait task_done", "get get_nowait join"),
    "_queue": _table("empty qsize", "put put_nowait", "get get_nowait"),
    "socket": _table(
        "accept recv recv_into recvfrom recvmsg getpeername getsockname fileno settimeout makefile",
        "close shutdown connect bind listen detach __exit__",
        "send sendall sendto sendmsg",
    ),
    "multiprocessing": _table(
        "poll empty full qsize is_set",
        "put put_nowait set clear close __exit__",
        "get get_nowait send send_bytes recv recv_bytes recv_bytes_into",
    ),
    "random": _table(
        "getstate",
        "seed setstate",
        "random uniform triangular randint randrange choice choices sample shuffle getrandbits randbytes gauss "
        "normalvariate lognormvariate expovariate vonmisesvariate gammavariate betavariate paretovariate "
        "weibullvariate binomialvariate",
    ),
    "concurrent": _table(
        "done result exception running cancelled", "set_result set_exception", "submit shutdown cancel"
    ),
}
_OTHERS["asyncio"] = _OTHERS["_asyncio"] = _table(
    "done result exception cancelled empty full qsize is_set",
    "set_result set_exception cancel put_nowait task_done set clear",
    "get_nowait",
)
_OTHERS["_random"] = _OTHERS["random"]  # what of a generator is written in C
_FUNCTIONS = {
    "_heapq": _table("", "heappush heapify", "heappop heapreplace heappushpop"),
    "_bisect": _table("bisect bisect_left bisect_right", "insort insort_left insort_right", ""),
}
_ON_WHOLE = frozenset(
    (
        *(
            "len",
            "list",
            "tuple",
            "set",
            "frozenset",
            "dict",
            "sorted",
            "sum",
            "min",
            "max",
            "any",
            "all",
            "iter",
            "bool",
        ),
        *("next", "enumerate", "zip", "reversed", "map", "filter"),
    )
)


def on_whole(name: str) -> bool:
    """Whether a function of the builtins looks at a whole container."""
    return name in _ON_WHOLE


def effect_of_function(module: str, name: str) -> tuple[bool, bool] | None:
    """(whether a function reads, whether it writes) the container that it gets; None where it is not known."""
    return _FUNCTIONS.get(module, {}).get(name)


def asks_for_file(module: str, name: str) -> bool:
    """Whether a function of a module finds out about a file whose path it gets."""
    return module in ("genericpath", "posixpath", "posix") and name in _PATH_FUNCTIONS


def effect_of(module: str, name: str) -> tuple[bool, bool] | None:
    """(whether a method reads, whether it writes) its object; None where it is not known or does neither.

    Args:
        module: of the object's type; ``builtins`` for containers, ``io`` for files.
        name: of the method.
    """
    if module == "builtins":
        return _CONTAINERS.get(name)
    if module == "io":
        return _FILES.get(name)
    if module.startswith("pathlib"):
        return _PATHS.get(name)
    return _OTHERS.get(module.partition(".")[0], {}).get(name)
