"""The text of a run, assembled from tokens whose offsets count UTF-16 units."""

from __future__ import annotations


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _text(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")


def _ends_in_half(text: str) -> bool:
    return text != "" and "\ud800" <= text[-1] <= "\udbff"


class RunText:
    """One text for each step. A token may replace the end of it, when a step had to be tried again."""

    def __init__(self) -> None:
        self.step = 0
        self._begin("")

    def _begin(self, text: str) -> None:
        #: Half of a character waits for its other half.
        self._half = text[-1] if _ends_in_half(text) else ""
        whole = text.removesuffix(self._half)
        self._pieces = [whole]
        self._characters = len(whole)
        self._units = len(_units(text)) // 2

    @property
    def text(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def take(self, step: int, offset: int, text: str) -> tuple[int, str] | None:
        """The position of the change and the new text from there on, in characters; None if nothing changes."""
        if step != self.step:
            self.step = step
            self._begin("")
        return self._append(text) if offset == self._units else self._replace(offset, text)

    def _append(self, text: str) -> tuple[int, str] | None:
        piece = _text(_units(self._half + text))
        start, self._half = self._characters, piece[-1] if _ends_in_half(piece) else ""
        piece = piece.removesuffix(self._half)
        self._units += len(_units(text)) // 2
        self._characters += len(piece)
        self._pieces.append(piece)
        return (start, piece) if piece else None

    def _replace(self, offset: int, text: str) -> tuple[int, str] | None:
        before = self.text
        self._begin(_text(_units(before + self._half)[: offset * 2] + _units(text)))
        after = self.text
        if after == before:
            return None
        start = _first_difference(before, after)
        return start, after[start:]


def _first_difference(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(one), len(other)))
