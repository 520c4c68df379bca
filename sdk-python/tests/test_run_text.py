"""The one rule for the text: offsets count UTF-16 units, strings of Python do not."""

from __future__ import annotations

import random

from perch_sdk._run_text import RunText


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def test_a_step_that_was_tried_again_replaces_from_the_first_difference_on() -> None:
    said = RunText()
    assert said.take(1, 0, "It ") == (0, "It ")
    assert said.take(1, 0, "The ") == (0, "The ")
    assert said.take(1, 4, "order ") == (4, "order ")
    assert said.text == "The order "


def test_what_is_there_already_is_not_told_again() -> None:
    said = RunText()
    said.take(1, 0, "The order is")
    assert said.take(1, 0, "The order is") is None
    assert said.take(1, 0, "The order is here") == (12, " here")


def test_half_a_character_waits_for_the_other_half() -> None:
    said = RunText()
    assert said.take(1, 0, "a\ud83d") == (0, "a")
    assert said.text == "a"
    assert said.take(1, 2, "\ude42b") == (1, "🙂b")
    assert said.take(1, 4, "c") == (3, "c")
    assert said.text == "a🙂bc"


def test_a_new_step_begins_anew() -> None:
    said = RunText()
    said.take(1, 0, "One moment.")
    assert said.take(2, 0, "Here") == (0, "Here")
    assert said.text == "Here"


def test_any_replacing_at_any_unit_gives_what_utf_16_would() -> None:
    dice = random.Random(7)
    for _ in range(300):
        said, expected, shown = RunText(), b"", ""
        for _ in range(12):
            offset = dice.randint(0, len(expected) // 2) if dice.random() < 0.4 else len(expected) // 2
            piece = "".join(dice.choice("aä🙂\ud83d\ude42") for _ in range(dice.randint(0, 4)))
            expected = expected[: offset * 2] + piece.encode("utf-16-le", "surrogatepass")
            change = said.take(1, offset, piece)
            if change is not None:
                shown = shown[: change[0]] + change[1]
        whole = expected.decode("utf-16-le", "surrogatepass")
        if whole and "\ud800" <= whole[-1] <= "\udbff":
            whole = whole[:-1]
        assert said.text == whole
        assert shown == whole
        assert _units(whole) <= len(expected) // 2
