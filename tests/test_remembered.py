"""What is remembered stays within its bytes."""

import copy
import pickle
import tracemalloc
from dataclasses import dataclass

import pytest
import torch

from nbr.remembered import Remembered, size_of


@dataclass(frozen=True)
class Pair:
    words: tuple[str, ...]
    more: object


class Slotted:
    __slots__ = ("inside",)

    def __init__(self, inside: object) -> None:
        self.inside = inside


@pytest.mark.parametrize(
    "make",
    [
        lambda: [f"name {number}" for number in range(5_000)],
        lambda: {number: [str(number)] for number in range(2_000)},
        lambda: [(f"name {number}", number / 7) for number in range(60_000)],
        lambda: [Pair((f"a{number}", "b"), {number, -number}) for number in range(2_000)],
        lambda: [Slotted([str(number)] * 3) for number in range(2_000)],
        lambda: [*["a"] * 24, [f"name {number}" for number in range(20_000)]],
    ],
)
def test_a_size_is_near_the_truth(make) -> None:
    tracemalloc.start()
    try:
        thing = make()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 0.6 * held < size_of(thing) < 1.7 * held


def test_tensors_count() -> None:
    assert size_of({"a": torch.zeros(1_000).double()}) > 8_000


def test_the_longest_unused_goes_first_and_the_last_always_stays() -> None:
    known: Remembered[str, str] = Remembered(4_000)
    for name in "abc":
        known[name] = name * 1_000
    assert known["a"] == "a" * 1_000
    known["d"] = "d" * 1_000
    assert list(known) == ["c", "a", "d"]
    known["e"] = "e" * 10_000
    assert list(known) == ["e"]
    known["e"] = "short"
    assert known.bytes < 300
    del known["e"]
    assert (known.bytes, len(known), known.get("e")) == (0, 0, None)


def test_a_copy_begins_empty() -> None:
    known: Remembered[str, str] = Remembered(4_000)
    known["a"] = "b"
    for other in (copy.deepcopy(known), pickle.loads(pickle.dumps(known))):
        assert (len(other), other.most) == (0, 4_000)
