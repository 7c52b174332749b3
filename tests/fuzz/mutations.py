"""Damage to logs that knows what a log is: lines of JSON, with keys, numbers, texts and lists.

Rules of this module:

* All randomness comes from the ``random.Random`` that is handed in: the same seed, the same damage.
* A mutation may leave a log that is sound. What counts is that a reader reads or refuses whatever comes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

Json = Any

NUMBERS = [0, -1, 1, 2, 255, 256, 2**31, 2**62, 2**62 + 1, 2**63, 2**64, -(2**63), 10**30, 0.5, -0.0, 1e308, 1e17]
TEXTS = [
    *("", "0", "0.1", "0.2.1", "0.0", "00", "0.", ".", "-1", "0.1.99999999999", "main", "arrival", "due", "away"),
    *("\0", "a\0b", "\ud800", "\udcff", "\x1b]0;title\x07", "\u202e", "\n", "/dev/zero", "/etc/shadow", "../.." * 40),
    *("x" * 300, "0" + ".1" * 300, "é" * 70, "NaN", "null", "f" * 16, "F" * 16, "0x1", "____", "AAAA", "not base64!"),
]
VALUES: list[Json] = [None, True, False, [], {}, [[]], [None], {"": None}, *NUMBERS, *TEXTS]
# What no JSON value gives: these replace a value in the text of its line.
RAW = ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "[" * 3000, '{"a":' * 3000, "[" * 60 + "]" * 60, "'x'", ""]


def mutated_log(sound: list[Json], random: random.Random) -> bytes:
    """A log with one to three mutations: of lines of JSON, one after the other.

    Args:
        sound: the values of the lines of a sound log.
        random: what decides.
    """
    lines = copy.copy(sound)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        if random.random() < 0.2:
            _mutate_lines(lines, random)
        elif lines:
            at = random.randrange(len(lines))
            lines[at] = mutated_value(lines[at], random)
    texts = [json.dumps(line, ensure_ascii=random.random() < 0.5) for line in lines]
    if random.random() < 0.15 and texts:
        at = random.randrange(len(texts))
        texts[at] = mutated_text(texts[at], random)
    data = "".join(text + "\n" for text in texts).encode("utf-8", "surrogatepass")
    return mutated_bytes(data, random) if random.random() < 0.1 else data


def _mutate_lines(lines: list[Json], random: random.Random) -> None:
    if len(lines) < 2:
        return
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case 2:
            lines[one], lines[other] = lines[other], lines[one]
        case 3:
            lines[one] = random.choice(VALUES)
        case _:
            lines.insert(
                one, {random.choice(["switch", "place", "event", "action", "end", "x"]): random.choice(VALUES)}
            )


def mutated_value(value: Json, random: random.Random) -> Json:
    """A value with one change somewhere inside."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return random.choice(VALUES)
    owner, key = random.choice(places)
    match random.randrange(8):
        case 0 if isinstance(owner, dict):
            del owner[key]
        case 0 | 1 if isinstance(owner, list):
            owner.insert(random.randrange(len(owner) + 1), owner[key])
        case 1:
            owner[random.choice(TEXTS)] = owner.pop(key)
        case 2:
            other, other_key = random.choice(places)
            if not _holds(owner[key], other) and not _holds(other[other_key], owner):
                owner[key], other[other_key] = other[other_key], owner[key]
        case 3:
            other, other_key = random.choice(places)
            owner[key] = copy.deepcopy(other[other_key])
        case 4 if isinstance(owner[key], int | float):
            owner[key] = random.choice(NUMBERS)
        case 4 | 5 if isinstance(owner[key], str):
            owner[key] = random.choice(TEXTS)
        case 6:
            for _ in range(random.choice((1, 2, 60, 200))):
                owner[key] = [owner[key]] if random.random() < 0.5 else {"a": owner[key]}
        case _:
            owner[key] = random.choice(VALUES)
    return value


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """(list or object, index or key) of everything inside a value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _holds(value: Json, wanted: object) -> bool:
    return value is wanted or any(owner is wanted for owner, _ in _places(value))


def mutated_text(text: str, random: random.Random) -> str:
    """A JSON text with something in it that JSON has not, or that is very deep or long."""
    starts = [at + 1 for at, character in enumerate(text) if character in ":[,"]
    if not starts:
        return random.choice(RAW)
    start = random.choice(starts)
    end = next((at for at in range(start, len(text)) if text[at] in ",]}"), len(text))
    return text[:start] + random.choice(RAW) + text[end:]


def mutated_bytes(data: bytes, random: random.Random) -> bytes:
    """Bytes of which some are others now, or missing."""
    at = random.randrange(len(data) + 1)
    match random.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
        case 2:
            return data[:at] + random.choice([b"\0", b"\xff", b"\r", b"\xed\xa0\x80", b"\n", b"\n\n"]) + data[at:]
        case _:
            return data[:at] + data[at + random.randrange(40) :]


def with_checksum(data: bytes) -> bytes:
    """A schedule log whose last line has the checksum that it should have: else the checksum hides all other damage."""
    body, newline, last = data.removesuffix(b"\n").rpartition(b"\n")
    try:
        ending = json.loads(last.decode("utf-8", "surrogatepass"))["end"]
        of_ending = json.dumps(ending, sort_keys=True).encode()
    except (ValueError, LookupError, TypeError, RecursionError):
        return data
    checksum = hashlib.sha256(body + newline + of_ending).hexdigest()
    text = json.dumps({"end": ending, "checksum": checksum})
    return body + newline + text.encode("utf-8", "surrogatepass") + b"\n"


Mutate = Callable[[random.Random], bytes]


def schedule_mutator(sound: bytes) -> Mutate:
    """Mutations of a schedule log, nearly all of them with a checksum that fits."""
    lines = [json.loads(line) for line in sound.splitlines()]

    def mutate(random: random.Random) -> bytes:
        data = mutated_log(lines, random)
        return with_checksum(data) if random.random() < 0.97 else data

    return mutate


def event_mutator(sound: bytes) -> Mutate:
    """Mutations of an event log."""
    lines = [json.loads(line) for line in sound.splitlines()]
    return lambda random: mutated_log(lines, random)


def flow_mutator(sound: bytes) -> Mutate:
    """Mutations of a user flow."""
    flow = json.loads(sound)
    return lambda random: mutated_log([flow], random)
