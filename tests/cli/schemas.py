"""Checks what ``--json`` prints against the published schemas."""

from __future__ import annotations

import importlib.resources
import json
from typing import Any

import jsonschema

SEARCHES = "isolation.schema.json"
OTHERS = "output.schema.json"


def schema(name: str) -> dict[str, Any]:
    """A schema, as it is installed."""
    file = importlib.resources.files("replay_dd.report") / name
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def checked(printed: str) -> dict[str, Any]:
    """The one object that a command has printed, after its check."""
    told: dict[str, Any] = json.loads(printed)
    if told["format"] == "replay-dd isolation":
        jsonschema.validate(told, schema(SEARCHES))
        return told
    whole = schema(OTHERS)
    (name,) = (
        name
        for name, one in whole["$defs"].items()
        if one.get("properties", {}).get("format", {}).get("const") == told["format"]
    )
    # Not all of them at once: then the message would be about all that it is not.
    jsonschema.validate(told, {"$ref": f"#/$defs/{name}", "$defs": whole["$defs"]})
    return told
