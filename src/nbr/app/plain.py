"""Names and labels are data from others: on a terminal, signs that would steer it are spelt out."""

from __future__ import annotations

import re
from typing import Any, TextIO

# Control characters but for tab and newline, marks that reorder text, and separators of lines that are no newline.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def plain(words: str) -> str:
    r"""Words with every sign spelt out that a terminal would obey.

    >>> print(plain("a\x1b[31mb"), plain("\u202etxt.exe"), plain("two\nlines"), sep="|")
    a\x1b[31mb|\u202etxt.exe|two
    lines
    """
    return STEERING.sub(lambda found: found[0].encode("unicode_escape").decode(), words)


class PlainStream:
    """A stream of text to which only plain words are written; in all else the stream that it was made of."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, words: str) -> int:
        self._stream.write(plain(words))
        return len(words)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
