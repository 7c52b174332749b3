"""The numbers behind the digest of a run: a 64-bit FNV-1a hash."""

from __future__ import annotations

from ..constants import DIGEST_PRIME

MASK = (1 << 64) - 1
START = 0xCBF29CE484222325  # where the digest starts: the offset of the 64-bit FNV-1a hash


def text_hash(text: str) -> int:
    """A 64-bit hash of a text that is the same in every process (FNV-1a)."""
    value = START
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * DIGEST_PRIME) & MASK
    return value
