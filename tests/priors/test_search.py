"""The search for a mixture: what it tells on the way, and that a run which is stopped goes on with what it found."""

from pathlib import Path

import pytest
import torch

import nbr
from nbr import priors
from nbr.errors import NbrError
from nbr.priors.search import MixtureSearch
from nbr.progress import Progress
from nbr.tables import Table
from small_table import parity

WORLD = nbr.World({**{f"x{at}": nbr.Bit() for at in range(15)}, "size": nbr.Real(0, 1)})


def table(count: int, seed: int) -> Table:
    """Bits that one tree cannot say, and a number that goes with one of them."""
    bits = parity(count, seed)
    size = (bits[:, :1] + torch.rand(count, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)) / 2
    return Table(WORLD, torch.cat([bits, size], dim=1))


TABLE, VALID = table(600, 0), table(300, 1)


def learned(
    monkeypatch: pytest.MonkeyPatch, kept: priors.KeptMixtures | None, most: int = 100
) -> tuple[priors.Trees, int]:
    """The trees of the table and how many mixtures were learned for them; stopped once there are too many."""
    count, true = 0, MixtureSearch._learned

    def counted(search: MixtureSearch, *given: object) -> object:
        nonlocal count
        if count == most:
            raise KeyboardInterrupt
        count += 1
        return true(search, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(MixtureSearch, "_learned", counted)
    try:
        return priors.trees(TABLE, valid=VALID, kept=kept), count
    finally:
        monkeypatch.setattr(MixtureSearch, "_learned", true)


def test_a_run_that_was_stopped_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole, all_of_them = learned(monkeypatch, None)
    kept = priors.KeptMixtures(tmp_path, "a run")
    with pytest.raises(KeyboardInterrupt):
        learned(monkeypatch, kept, most=all_of_them - 1)
    assert len(list(tmp_path.glob("prior-*"))) == all_of_them - 1 > 8
    found, count = learned(monkeypatch, kept)
    assert count == 1
    assert torch.equal(found.log_prob(VALID.codes), whole.log_prob(VALID.codes))
    assert found.starts == whole.starts


def test_what_another_run_kept_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        learned(monkeypatch, priors.KeptMixtures(tmp_path, "a run"), most=1)
    with pytest.raises(NbrError, match="other data or other settings; delete it to start again"):
        learned(monkeypatch, priors.KeptMixtures(tmp_path, "another run"))


def test_of_several_processes_one_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        learned(monkeypatch, priors.KeptMixtures(tmp_path, "a run", writes=False), most=3)
    assert not list(tmp_path.iterdir())


def test_progress_has_one_stage_that_ends_once_and_never_falls() -> None:
    told: list[Progress] = []
    found = priors.trees(TABLE, valid=VALID, watch=told.append)
    scores = [each.figures["held out"] for each in told]
    assert {each.stage for each in told} == {"prior"}
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(float(found.log_prob(VALID.codes).mean()), abs=0.02)
    assert [each.ended for each in told] == [False] * (len(told) - 1) + [True]
    assert len({each.of for each in told}) == 1
    assert [each.done for each in told] == sorted(each.done for each in told)
    assert found.starts < told[-1].done <= told[-1].of


def test_the_last_rounds_on_all_rows_are_told_too() -> None:
    told: list[Progress] = []
    found = priors.trees(TABLE, watch=told.append)
    last = [each for each in told if each.stage == "prior, learned anew"]
    assert [(each.done, each.of) for each in last] == [(at, found.starts) for at in range(1, found.starts + 1)]
    assert last[-1].ended
