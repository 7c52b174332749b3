"""Steps in words."""

from __future__ import annotations

from replay_dd.web.describe import steps_in_words
from tests.web.flows import flow


def _click(*selectors: str) -> dict[str, object]:
    return {"type": "click", "target": "main", "selectors": [[one] for one in selectors], "offsetX": 1, "offsetY": 1}


def test_elements_of_the_same_name_are_told_apart() -> None:
    first, second = _click("aria/Like", "#post-1 > button"), _click("aria/Like", "xpath///p[2]/b", "#post-2 > button")
    whole = flow("http://x/", first, second, _click("aria/Save", "#save"), first)
    assert steps_in_words(whole)[2:] == [
        'click "Like" (#post-1 > button)',
        'click "Like" (//p[2]/b)',
        'click "Save"',
        'click "Like" (#post-1 > button)',
    ]


def test_an_element_with_nothing_but_a_name_has_that() -> None:
    whole = flow("http://x/", _click("aria/Like"), _click("text/Like", "#a"), _click("#a"))
    assert steps_in_words(whole)[2:] == ['click "Like" (aria/Like)', 'click "Like" (#a)', "click #a"]
