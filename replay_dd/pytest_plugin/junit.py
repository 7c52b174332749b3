"""``<flakyFailure>`` in JUnit's XML: a test that fails under one schedule and passes under another.

The element is that of Maven's Surefire, which servers of continuous integration know: a message, a type, the failure
as it was told, and what else was written. The test stays failed; the element says that it was flaky.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from replay_dd.pytest_plugin.results import HuntResult


def add_flaky_failure(config: pytest.Config, report: pytest.TestReport, result: HuntResult) -> None:
    """Add the element to the report of a test, if JUnit's XML is written.

    Args:
        config: of the run of pytest that writes it.
        report: of the test.
        result: a race.
    """
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "LogXML":
            writer: Any = plugin
            writer.node_reporter(report).append(_element(result))


def _element(result: HuntResult) -> ElementTree.Element:
    kind = result.failure.partition(":")[0]
    element = ElementTree.Element("flakyFailure", message=_text(result.failure), type=_text(kind))
    trace = ElementTree.SubElement(element, "stackTrace")
    trace.text = _text(result.told or result.failure)
    output = ElementTree.SubElement(element, "system-out")
    output.text = _text("\n".join([*result.story, f"{'repeat':<13}{result.repeat}"]))
    return element


def _text(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(character for character in text if character in "\t\n" or character.isprintable())
