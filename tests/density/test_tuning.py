"""Beliefs fitted to wanted answers: gradients against finite differences, wrong beliefs found again."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import torch

import nbr
from command import run
from nbr.density import tuning

WANTED = """
[variables]
rain = "bit"
sprinkler = "bit"
wet = "bit"

[prior]
rain = 0.2
sprinkler = 0.1

[[rules]]
rule = "rain -> wet"
belief = 0.5

[[rules]]
rule = "sprinkler -> wet"
belief = 1.0

[[rules]]
rule = "wet -> rain | sprinkler"
belief = 0.9

[[expect]]
ask = "wet"
given = "rain, ~sprinkler"
probability = 0.9

[[expect]]
ask = "rain"
given = "wet"
probability = [0.6, 0.7]
"""


def base(seed: int, bits: int, rules: int) -> tuple[nbr.Reasoner, random.Random]:
    draw = random.Random(seed)

    written = []
    for _ in range(rules):
        *premise, conclusion = (f"{draw.choice(['', '~'])}x{at}" for at in draw.sample(range(bits), draw.randint(2, 3)))
        written.append(nbr.Clause(f"{' & '.join(premise)} -> {conclusion}", draw.uniform(0.3, 0.9)))
    world = nbr.World.bits(bits)
    shares = [draw.uniform(0.2, 0.8) for _ in range(bits)]
    prior = nbr.priors.Independent(world, [torch.tensor([1 - share, share]).double() for share in shares])
    return nbr.Reasoner(world, written, prior=prior), draw


def answers(reasoner: nbr.Reasoner, draw: random.Random, count: int) -> list[tuple[str, str | None, float]]:
    found: list[tuple[str, str | None, float]] = []
    names = reasoner.world.names
    while len(found) < count:
        one, *others = draw.sample(names, 3)
        given = ", ".join(f"{name}={draw.randrange(2)}" for name in others) if draw.random() < 0.8 else None
        found.append((one, given, float(reasoner.probability(one, given).value or 0.0)))
    return found


def test_gradients_equal_finite_differences() -> None:
    reasoner, draw = base(0, 8, 10)
    asked, targets = tuning._read(
        reasoner.model, [*answers(reasoner, draw, 12), ("x0 & x1", "x2 | x3", 0.5), ("x0", "~x0", 0)]
    )
    free = list(range(10))
    batches = tuning._batches(reasoner.model, asked, 10.0)
    odds = torch.randn(10, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def error(at: torch.Tensor) -> torch.Tensor:
        return (tuning._answers(reasoner.model, free, batches, at, len(targets)) - targets).square().sum()

    assert torch.autograd.gradcheck(error, odds.clone().requires_grad_())


def test_ten_wrong_beliefs_are_found_again_from_fifty_answers() -> None:
    true, draw = base(3, 15, 20)
    wanted = answers(true, draw, 50)
    wrong = set(draw.sample(range(20), 10))
    rules = [rule.with_belief(draw.uniform(0.1, 0.9)) if at in wrong else rule for at, rule in enumerate(true.rules)]
    start = nbr.Reasoner(true.world, rules, prior=true.model.base)
    found, told = start.tuned(wanted, [at + 1 for at in wrong], budget=60)
    assert told.off[0] > 0.01
    assert told.off[1] < 1e-5
    assert set(told.changed) <= {at + 1 for at in wrong}
    for before, after in zip(true.rules, found.rules, strict=True):
        assert after.degree == pytest.approx(before.degree, abs=2e-3)
    assert found.probability(wanted[0][0], wanted[0][1]).value == pytest.approx(wanted[0][2], abs=1e-5)
    assert [rule.degree for rule in start.rules] == [rule.degree for rule in rules]


def test_what_answers_do_not_decide_stays() -> None:
    reasoner = nbr.Reasoner(nbr.World.bits(3), [nbr.Clause("x0", 0.3), nbr.Clause("x2", 0.7), nbr.Clause("x1", 1.0)])
    found, told = reasoner.tuned([("x0", None, 0.8)])
    assert found.rules[0].degree == pytest.approx(0.75, abs=1e-4)  # 1 / (1 + 1 - b) = 0.8
    assert [rule.degree for rule in found.rules[1:]] == [0.7, 1.0]
    assert list(told.changed) == [1]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ([], "no expected answer"),
        ([("x0", None, 1.5)], "answer 1: a probability must be a number from 0 to 1, not 1.5"),
        ([("x0", None)], "answer 1: write a question"),
        ([("x0", None, 0.5), ("x9", None, 0.5)], "answer 2: question: unknown variable 'x9'"),
        ([("x0", "x1, ~x1", 0.5)], "answer 1: its condition has probability 0"),
    ],
)
def test_what_cannot_be_wanted_is_refused(wanted: list[tuple[str, str | None, float]], words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0", 0.3)]).tuned(wanted)
    with pytest.raises(nbr.NbrError, match="no belief to tune"):
        nbr.Reasoner(nbr.World.bits(2), [nbr.Clause("x0", 1.0)]).tuned([("x0", None, 0.5)])


def test_command(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(WANTED)
    assert run("check", "m.toml", cwd=tmp_path).returncode == 1
    done = run("check", "m.toml", "--tune", "-o", "t.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "by 0.0000 after" in done.stdout
    assert "rain -> wet" in done.stdout
    assert run("check", "t.toml", cwd=tmp_path).returncode == 0
    told = json.loads(run("check", "m.toml", "--tune", "--json", cwd=tmp_path).stdout)
    assert [each["rule"] for each in told["rules"]] == [1, 3]
    none = run("check", "m.toml", "--tune", "-o", "t.toml", cwd=tmp_path)
    assert (none.returncode, none.stderr.count("\n")) == (2, 1)
