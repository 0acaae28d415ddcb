"""Words, numbers, sources, possibilities, closed variables and soft evidence together, against enumeration."""

from __future__ import annotations

import pytest

import mixed_oracle
import nbr

WAYS = ("auto", "few", "lattice", "counting", "boxes", "least")


@pytest.mark.parametrize("seed", [2, 4, 7, 11, 14, 16, 18, 20, 26, 38, 271])
def test_every_way_that_fits_answers_as_enumeration_does(seed: int) -> None:
    case = mixed_oracle.drawn(seed)
    wanted = mixed_oracle.answer(case)
    if wanted is None:
        with pytest.raises(nbr.NbrError, match="cannot hold|contradict"):
            case.model.ask(case.question[0], case.given)
        return
    fitted = 0
    for by in WAYS:
        try:
            found = case.model.ask(case.question[0], case.given, engine=by)
        except nbr.NbrError as error:
            assert "does not fit" in str(error), by
            continue
        if found.exact:
            assert (found.belief, found.plausibility, found.conflict) == pytest.approx(wanted[:3], abs=1e-9), by
            fitted += 1
    assert fitted > 1
