"""JSON texts to plain values: what is not JSON, or cannot be read in reasonable time, is a ValueError in words."""

from __future__ import annotations

import json
from typing import Any

from replay_dd.schema import must_be


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def parse(text: str) -> Any:
    """The plain value that a JSON text stands for.

    Raises:
        ValueError: it is not JSON, or nested too deeply to be read.
    """
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg.lower().removesuffix(' at')} at character {error.pos + 1}"
        raise ValueError(f"it is not JSON ({where})") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:  # a number of more digits than Python reads, or NaN
        raise ValueError(f"it is not JSON that can be read ({str(error).partition(':')[0]})") from None


def parse_object(line: bytes) -> dict[str, Any]:
    """The object in a line of a log.

    Raises:
        ValueError: there is none.
    """
    try:
        text = line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    found = parse(text)
    if type(found) is not dict:
        raise must_be("an object", found)
    return found
