"""Base rates that an expert writes, in the [prior] of a .toml."""

from __future__ import annotations

from pathlib import Path
from statistics import NormalDist

import pytest

import nbr

CAR = """
[variables]
flat = "bit"
weather = ["dry", "wet", "snow"]
temperature = { from = -20, to = 45 }
"lamp0..lamp2" = "bit"
starts = "bit"
[prior]
flat = 0.02
weather = { dry = 0.7 }
temperature = { mean = 12, spread = 8 }
"lamp0..lamp1" = 0.1
[[rules]]
rule = "flat -> ~starts"
belief = 0.95
[[rules]]
rule = "weather=snow & ~flat -> ~starts"
belief = 0.2
"""


def load(folder: Path, text: str) -> nbr.Reasoner:
    (folder / "car.toml").write_text(text)
    found = nbr.load(folder / "car.toml")
    assert isinstance(found, nbr.Reasoner)
    return found


def test_base_rates_count(tmp_path: Path) -> None:
    car = load(tmp_path, CAR)
    # P_keep is 0.05 for a flat battery that starts, 0.8 for a good one that starts in the snow
    flat = 0.02 * (0.5 * 0.05 + 0.5)
    good = 0.98 * (0.5 + 0.5 * (0.85 + 0.15 * 0.8))
    found = car.probability("flat")
    assert found.exact
    assert found.value == pytest.approx(flat / (flat + good), abs=1e-9)
    assert car.probability("flat", "~starts").value == pytest.approx(0.02, abs=1e-9)
    assert car.probability("weather=wet", "~starts").value == pytest.approx(0.15, abs=1e-9)
    assert car.probability("lamp0 & lamp1 & lamp2").value == pytest.approx(0.005, abs=1e-9)
    assert car.probability("temperature>=12").value == pytest.approx(0.5, abs=1e-3)
    assert car.ask("flat").plausibility == 1.0  # asking ignores it


def test_base_rates_are_saved(tmp_path: Path) -> None:
    car = load(tmp_path, CAR)
    car.save(tmp_path / "car.nbr")
    again = nbr.load(tmp_path / "car.nbr")
    assert isinstance(again, nbr.Reasoner)
    assert again.probability("flat", "~starts") == car.probability("flat", "~starts")
    assert car.sample(2000, seed=1)["flat"].mean() < 0.05


def test_base_rates_of_a_count(tmp_path: Path) -> None:
    """Each value has the curve from halfway to the one before to halfway to the next."""
    text = "[variables]\nvisits = { from = 0, to = 9, step = 1 }\n[prior]\nvisits = { mean = 3, spread = 2 }\n"
    visits = load(tmp_path, text)
    curve = NormalDist(3, 2)
    whole = curve.cdf(9.5) - curve.cdf(-0.5)
    assert visits.probability("visits=3").value == pytest.approx((curve.cdf(3.5) - curve.cdf(2.5)) / whole, abs=1e-6)
    assert visits.probability("visits>=5").value == pytest.approx((curve.cdf(9.5) - curve.cdf(4.5)) / whole, abs=1e-6)
    assert set(visits.sample(500, seed=0)["visits"]) <= set(range(10))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("flat = 1.5", "'flat': for a bit, give the probability of 1"),
        ("flat = true", "'flat': for a bit, give the probability of 1"),
        ('flat = "often"', "'flat': for a bit, give the probability of 1"),
        ("flta = 0.1", "'flta': unknown variable 'flta'; did you mean 'flat'?"),
        ("weather = 0.1", "'weather': for a choice, give a share for each label, as in { dry = 0.33, wet = 0.33 }"),
        ("weather = { dy = 0.1 }", "'weather': 'dy' is not one of its labels; did you mean 'dry'?"),
        ("weather = { dry = 0.9, wet = 0.9 }", "'weather': the shares of its labels add up to 1.8"),
        ("weather = { dry = 0.1, wet = 0.1, snow = 0.1 }", "'weather': the shares of its labels add up to 0.3"),
        ("weather = { dry = -1 }", "'weather': the share of 'dry' must be a number from 0 to 1"),
        ("temperature = 12", "'temperature': a number takes { mean = .., spread = .. }"),
        ("temperature = { mean = 120, spread = 8 }", "'temperature': the mean 120 lies more than 6 spreads beyond"),
        ("temperature = { mean = 12, spread = 0 }", "'temperature': the spread must be above 0"),
        ('lamp1 = 0.1\n"lamp0..lamp1" = 0.2', "'lamp1': it appears twice"),
    ],
)
def test_bad_base_rates(tmp_path: Path, line: str, message: str) -> None:
    head, rest = CAR.split("[prior]")
    rules = rest[rest.index("[[rules]]") :]
    with pytest.raises(nbr.NbrError) as caught:
        load(tmp_path, f"{head}[prior]\n{line}\n{rules}")
    assert f"[prior] {message}" in str(caught.value)


def test_a_prior_that_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(nbr.NbrError, match="must be a table of names"):
        load(tmp_path, "prior = 0.5\n" + CAR.split("[prior]")[0])
