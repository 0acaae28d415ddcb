"""Clauses that people can read: found where they were planted, with the beliefs of maximum likelihood."""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import nbr
from command import run
from nbr import priors, tables
from nbr.learning import fitting
from nbr.learning.clauses import WantedClauses, _chosen, _gains, grow, statement
from nbr.learning.coarse import Coarse
from nbr.learning.confidence import limited, lowest_share
from nbr.learning.loglinear import GibbsChains, agree
from nbr.learning.patterns import Packed, Pattern, search
from nbr.learning.splitting import split

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import planted_clauses


def garden(rows: int = 3000) -> pd.DataFrame:
    """Smokers cough; who lives in Oslo earns more; three in five live in Bern."""
    random = np.random.default_rng(0)
    smokes = random.integers(0, 2, rows)
    cough = np.where(smokes == 1, random.random(rows) < 0.7, random.random(rows) < 0.2).astype(float)
    city = random.choice(["bern", "rome", "oslo"], rows, p=[0.6, 0.3, 0.1])
    income = np.round(np.exp(random.normal(8, 1, rows)) + np.where(city == "oslo", 4000, 0))
    cough[random.random(rows) < 0.1] = np.nan
    return pd.DataFrame({"smokes": smokes, "cough": cough, "city": city, "income": income})


def test_planted_clauses_are_found_and_none_is_invented() -> None:
    found = planted_clauses.run(0, rows=8000, columns=14, clauses=4)
    assert found["found"] == 4
    assert found["strongest_invented"] <= 0.2
    assert found["farthest_belief"] < 0.1


def test_beliefs_are_those_of_maximum_likelihood() -> None:
    """Against the likelihood over all points of a small world, whose gradient in the beliefs must vanish."""
    world = nbr.World.bits(4)
    rules = ["x0 -> x1", "x1 -> x2 | x3", "~x0 | ~x3", "x2"]
    random = np.random.default_rng(1)
    truth = nbr.Reasoner(world, [nbr.Clause(text, b) for text, b in zip(rules, (0.8, 0.5, 0.9, 0.3), strict=True)])
    drawn = tables.read(truth.sample(4000, seed=int(random.integers(99))), world)
    written = nbr.Reasoner(world, [nbr.Clause(text, 0.1) for text in rules])
    model = fitting.fit_report(drawn, rules_from=written, confidence=None)
    points = torch.tensor(list(product((0.0, 1.0), repeat=4)), dtype=torch.float64)
    chance = model.reasoner.log_prob(tables.Table(world, points)).exp()
    rows = split(drawn, 0).trainable.codes
    for column in (0, 1, 3):  # of x2 a rule says how often it is
        assert float(chance @ points[:, column]) == pytest.approx(float(rows[:, column].mean()), abs=0.006)
    for rule in model.reasoner.rules:
        assert float(chance @ (1 - rule.grades(points))) == pytest.approx(
            float((1 - rule.grades(rows)).mean()), abs=0.006
        )
    said = {rule.describe(): rule.degree for rule in model.reasoner.rules}
    assert [said[text] for text in rules] == pytest.approx([0.8, 0.5, 0.9, 0.3], abs=0.08)


def test_a_clause_adds_what_rows_lose_without_it() -> None:
    world = nbr.World.bits(2)
    drawn = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.8)]).sample(4000, seed=1)
    written = nbr.Reasoner(world, [nbr.Clause("x0 -> x1", 0.1)])
    model = fitting.fit_report(tables.read(drawn, world), rules_from=written)
    rows = split(model.table, 0).trainable
    without = float(nbr.Reasoner(world, prior=model.reasoner.prior).log_prob(rows).mean())
    assert model.reasoner.rules[0].adds == pytest.approx(
        float(model.reasoner.log_prob(rows).mean()) - without, abs=5e-3
    )


def test_chains_draw_from_rules_and_prior() -> None:
    world = nbr.World(a=nbr.Bit(), b=nbr.Choice("u", "v", "w"), c=nbr.Bit())
    data = tables.Table(world, torch.tensor([[0.0, 0, 0], [1, 1, 1], [0, 2, 1]], dtype=torch.float64))
    prior = priors.Independent(world, [torch.tensor([3.0, 1]), torch.tensor([1.0, 2, 3]), torch.ones(2)])
    clauses = [nbr.Clause("a -> b=w", 0.9), nbr.Clause("b!=u | c", 0.6)]
    coarse = Coarse.of(data, [clause.expression for clause in clauses], False)
    masses = coarse.masses(prior)
    assert masses is not None
    chains = GibbsChains(masses, 1 << 16, seed=0)
    broken = [coarse.broken(clause.expression) for clause in clauses]
    for _ in range(4):
        draws = chains.draw(broken, -np.log1p(-np.array([0.9, 0.6])))
    reasoner = nbr.Reasoner(world, clauses, prior=prior)
    points = [
        column.values[0][torch.from_numpy(draw).long()] for column, draw in zip(coarse.columns, draws, strict=True)
    ]
    drawn = torch.stack(points, dim=1)
    for question in ("a", "b=w", "b=u & ~c", "a & c"):
        share = float(nbr.language.parse(question).holds(world, drawn).double().mean())
        assert share == pytest.approx(reasoner.probability(question).value, abs=0.01)


def test_clauses_of_bits_choices_and_numbers_with_holes() -> None:
    model = nbr.fit(garden(), "clauses")
    said = {rule.describe(): rule for rule in model.rules}
    assert {"cough -> smokes", "smokes -> cough"} & set(said)
    assert any(text.startswith("city=oslo -> income>=") for text in said)
    assert model.probability("city=bern").value == pytest.approx(0.6, abs=0.02)
    adds = [rule.adds for rule in model.rules]
    assert adds == sorted(adds, reverse=True)
    assert model.probability("cough", "smokes").value == pytest.approx(0.7, abs=0.05)


def test_nothing_is_found_where_there_is_nothing() -> None:
    points = np.random.default_rng(0).integers(0, 2, (2000, 8)).astype(float)
    assert nbr.fit(points, "clauses").rules == ()


def test_a_tree_prior_leaves_little_to_add() -> None:
    frame = garden()
    data = tables.read(frame)
    rows = split(data, 0)
    trees = priors.trees(rows.train, 1, valid=rows.valid, seed=0)
    assert len(grow(trees, rows, [], WantedClauses(), 0).rules) < len(nbr.fit(frame, "clauses").rules)


def test_written_rules_keep_their_words_and_get_beliefs(tmp_path: Path) -> None:
    garden().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "m.toml").write_text(
        '[variables]\nsmokes = "bit"\ncough = "bit"\nold = "bit"\n'
        'city = ["bern", "rome", "oslo"]\nincome = { from = 0, to = 1000000 }\n'
        '[[rules]]\nname = "smoke hurts"\nrule = "smokes -> cough"\nbelief = 0.5\n'
        '[[rules]]\nrule = "old -> cough"\nbelief = 0.4\n'
    )
    arguments = ["fit", str(tmp_path / "t.csv"), "--rules-from", str(tmp_path / "m.toml")]
    assert run(*arguments, "-o", str(tmp_path / "m.nbr")).returncode == 0
    rules = {rule.describe(): rule for rule in nbr.load(tmp_path / "m.nbr").rules}
    assert rules["smokes -> cough"].name == "smoke hurts"
    assert rules["smokes -> cough"].degree != pytest.approx(0.5, abs=0.02)
    assert rules["old -> cough"].degree == pytest.approx(0.4)  # no row shows it
    more = ["--rules", "clauses", "-o", str(tmp_path / "more.nbr")]
    assert run(*arguments, *more).returncode == 0
    both = [rule.describe() for rule in nbr.load(tmp_path / "more.nbr").rules]
    assert {"smokes -> cough", "old -> cough"} < set(both)
    shown = run("show", str(tmp_path / "more.nbr")).stdout
    assert "adds (nats a row)" in shown
    assert "(if smokes then cough)" in shown


def test_what_cannot_be_learned_is_said() -> None:
    world = nbr.World.bits(2)
    memory = nbr.Reasoner(world, [nbr.Memory({"x0": 1, "x1": 1}, 0.1, 0.5)])
    rows = np.random.default_rng(0).integers(0, 2, (200, 2)).astype(float)
    with pytest.raises(nbr.NbrError, match="is not a clause"):
        nbr.fit(rows, rules_from=memory)
    with pytest.raises(nbr.NbrError, match="beside rules_from"):
        nbr.fit(rows, 3, rules_from=nbr.Reasoner(world, [nbr.Clause("x0", 0.5)]))


def test_a_pattern_is_ruled_out_by_its_clause() -> None:
    data = tables.read(garden(200))
    coarse = Coarse.of(data, [], True)
    codes = coarse.find(data.codes)
    literals = {str(each.statement): at for at, each in enumerate(coarse.literals)}
    for texts in (["smokes"], ["~smokes", "~cough"], ["smokes", "city!=bern"], ["city=oslo", "smokes", "cough"]):
        chosen = [literals[text] for text in texts]
        clause = statement([coarse.literals[each] for each in chosen])
        shown = (codes[list(coarse.pattern(chosen).columns)] >= 0).all(axis=0)
        holds = clause.holds(data.world, data.codes).numpy()
        assert (coarse.pattern(chosen).at(codes)[shown] == ~holds[shown]).all()


def test_a_clause_that_held_out_rows_break_does_not_join() -> None:
    data = tables.Table(nbr.World.bits(1), torch.tensor([[0.0], [1.0]] * 50, dtype=torch.float64))
    coarse = Coarse.of(data, [], True)
    rule, codes = coarse.broken(nbr.language.parse("x0")), coarse.find(data.codes)
    assert not _gains(rule, 1.0, 0.4, codes)  # half of the rows lose 1 nat, and all gain 0.4
    assert _gains(rule, 1.0, 0.6, codes)
    assert not _gains(rule, 1.0, 0.52, codes)  # which chance could give


def test_agreement_stops_at_no_belief() -> None:
    """A rule that rows break more often than the prior gets weight 0, not a belief below 0."""
    data = tables.Table(nbr.World.bits(1), torch.tensor([[0.0], [1.0]], dtype=torch.float64))
    coarse = Coarse.of(data, [], True)
    rule = coarse.broken(nbr.language.parse("x0"))
    chains = GibbsChains([np.array([0.5, 0.5])], 1000, seed=0)
    assert agree([rule], np.array([0.9]), np.array([1000]), np.array([0.3]), chains).weights.tolist() == [0.0]


def test_the_error_of_clauses_is_that_of_a_mean_over_rows_not_learned_from() -> None:
    found = fitting.fit_report(garden(), rules="clauses", seed=0)
    parts = split(found.table, 0)
    assert parts.test is not None
    scored = found.reasoner.log_prob(parts.test)
    assert found.held_out is not None
    assert found.held_out.log_likelihood == pytest.approx(float(scored.mean()), abs=1e-6)
    assert found.held_out.error == pytest.approx(float(scored.std()) / len(scored) ** 0.5, rel=1e-3)


def test_a_pattern_needs_rows_that_show_it_and_a_model_that_expects_it() -> None:
    """Rarer than expected, in columns that enough rows show together, and expected in some rows: all three."""
    world, random = nbr.World.bits(2), np.random.default_rng(0)
    even = random.integers(0, 2, (4000, 2))
    apart = random.integers(0, 2, (400, 2)).astype(float)
    apart[(apart == 1).all(axis=1), 1] = 0  # never both
    hidden = apart.copy()
    hidden[random.random(400) < 0.8, 1] = np.nan

    def found(values: np.ndarray, together: int, draws: np.ndarray = even) -> set[tuple[str, ...]]:
        data = tables.read(values, world)
        coarse = Coarse.of(data, [], True)
        rows = Packed(coarse, coarse.find(data.codes))
        model = Packed(coarse, coarse.find(torch.from_numpy(draws).double()))
        patterns = [each.literals for each in search(coarse, rows, model, together)]
        return {tuple(str(coarse.literals[at].statement) for at in literals) for literals in patterns}

    assert ("x0", "x1") in found(apart, 30)
    assert ("x0", "x1") in found(hidden, 30)
    assert ("x0", "x1") not in found(hidden, 100)  # some 80 rows show both
    rare = (random.random((4000, 2)) < 0.05).astype(int)
    assert ("x0", "x1") not in found(apart, 30, rare)  # the model expects one row of 400


def pairs(rows: int, seed: int = 0) -> pd.DataFrame:
    """b follows a in 84%, else it is a coin; c is a coin; d is there in one row of five."""
    random = np.random.default_rng(seed)
    a, c = random.integers(0, 2, (2, rows))
    b = np.where(a == 1, random.random(rows) < 0.84, random.random(rows) < 0.5).astype(int)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": (random.random(rows) < 0.2).astype(int)})


@pytest.mark.parametrize("seed", range(3))
def test_three_hundred_rows_are_enough(seed: int) -> None:
    frame = pairs(300, seed)
    model = nbr.fit(frame, "clauses")
    assert [rule.describe() for rule in model.rules] in (["a -> b"], ["~b -> ~a"])
    learned = split(tables.read(frame), 0).trainable.codes
    counted = float(learned[learned[:, 0] == 1, 1].mean())
    assert model.probability("b", given="a").value == pytest.approx(counted, abs=0.02)
    answer = model.ask("b", given="a")
    assert 0.4 < answer.belief < 0.84 < answer.plausibility


def test_base_rates_come_first_and_rules_leave_them_as_they_are() -> None:
    few, many = nbr.fit(pairs(20), "clauses"), nbr.fit(pairs(1000), "clauses")
    assert few.rules == ()
    assert few.probability("d").value < 0.4
    learned = split(tables.read(pairs(1000)), 0).trainable.codes
    assert many.rules
    for at, name in enumerate("abcd"):
        assert many.probability(name).value == pytest.approx(float(learned[:, at].mean()), abs=0.01)


def test_the_rows_behind_a_clause_can_be_counted() -> None:
    frame = pairs(1000)
    frame.loc[::4, "c"] = np.nan
    frame.loc[::5, "b"] = np.nan
    model = nbr.fit(frame, "clauses", valid=frame)
    (rule,) = (rule for rule in model.rules if set(rule.inputs) == {"a", "b"})
    assert rule.describe() == "a -> b"
    met = frame[(frame.a == 1) & frame.b.notna()]
    assert (rule.support.rows, rule.support.held) == (len(met), met.b.sum())
    assert rule.support.lift == pytest.approx(met.b.mean() / frame.b.mean())
    broken = frame[(frame.b == 0) & frame.a.notna()]  # it is also ~b -> ~a, and may be asked so
    readings = [(met.b.sum(), len(met)), ((broken.a == 0).sum(), len(broken))]
    assert rule.degree == pytest.approx(min(limited(rule.support.likeliest, *each, 0.95) for each in readings))
    assert rule.degree < min(lowest_share(*each, 0.95) for each in readings) + 1e-9


def test_rules_about_a_column_come_first_and_end_in_it() -> None:
    random = np.random.default_rng(1)
    frame = pairs(2000).assign(e=random.integers(0, 2, 2000))
    frame["f"] = np.where(random.random(2000) < 0.95, frame.e, 1 - frame.e)  # much stronger than what is said of a
    told: list[float] = []
    model = nbr.fit(frame, "clauses", target="a", progress=lambda each: told.append(each.figures["clauses"]))
    said = [rule.describe() for rule in model.rules]
    assert "~b -> ~a" in said
    assert any("f" in text for text in said)
    assert told[0] == 1  # in the first round nothing but what is about a
    with pytest.raises(nbr.NbrError, match="unknown variable 'z'"):
        nbr.fit(frame, "clauses", target="z")
    with pytest.raises(nbr.NbrError, match="rules='clauses'"):
        nbr.fit(frame, target="a")


def test_a_pattern_that_fails_does_not_keep_its_parts_out() -> None:
    data = tables.read(pairs(400))
    coarse = Coarse.of(data, [], True)
    at = {str(each.statement): number for number, each in enumerate(coarse.literals)}
    wide, narrow = (tuple(at[text] for text in texts) for texts in (("a", "~b", "c"), ("a", "~b")))
    found = [Pattern(wide, 0.01, 0.1, 0.05, 9.0), Pattern(narrow, 0.08, 0.16, 0.03, 8.0)]
    chosen = _chosen(coarse, found, lambda broken, pattern: len(pattern.literals) == 2, [], None)
    assert [pattern.literals for pattern, _ in chosen] == [narrow]


def test_it_is_said_when_next_to_nothing_was_learned() -> None:
    noise = np.random.default_rng(0).integers(0, 2, (400, 4)).astype(float)
    report = fitting.fit_report(noise, "clauses")
    assert "no clause: nothing goes together beyond chance in 360 rows" in report.kept
    assert "nothing" not in fitting.fit_report(pairs(1000), "clauses").kept


def test_the_command_shows_the_rows_behind_each_clause(tmp_path: Path) -> None:
    pairs(600).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", str(tmp_path / "t.csv"), "--rules", "clauses"]
    low, likely = tmp_path / "low.nbr", tmp_path / "likely.nbr"
    assert run(*arguments, "--target", "a", "-o", str(low)).returncode == 0
    assert run(*arguments, "--target", "a", "--confidence", "none", "-o", str(likely)).returncode == 0
    shown, told = run("show", str(low)).stdout, json.loads(run("show", str(low), "--json").stdout)
    (rule,) = told["rules"]
    support = rule["support"]
    assert rule["says"] == "~b -> ~a"
    assert rule["belief"] < support["likeliest"] == nbr.load(likely).rules[0].degree
    assert support["confidence"] == support["held"] / support["rows"]
    assert support["lift"] == pytest.approx(support["confidence"] / support["usual"])
    assert "belief: a lower limit with confidence 0.95" in shown
    assert f"{rule['belief']:.4f}  {support['held']}/{support['rows']}" in shown
    assert "at least" not in run("show", str(likely)).stdout
    wrong = run(*arguments, "--confidence", "sure", "-o", str(low.with_name("w.nbr")))
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)
    assert "--confidence must be a number such as 0.95, or none" in wrong.stderr
