"""Commands with --jobs: the same bytes as without, in order; what goes to another process can be sent there.

Workers here are this process itself, to which everything is sent as it would be to others: starting others that load
torch takes seconds. `test_parallel.py` has real ones.
"""

import csv
import json
import math
import pickle
from collections.abc import Iterator
from pathlib import Path

import joblib
import numpy as np
import pytest
import torch

import nbr
from command import run
from nbr import parallel, tables
from nbr.app import asked, attack, classifying
from nbr.classify import estimator
from nbr.robustness import protocol
from pictures import bars
from small_table import TABLE

GARDEN = "examples/garden.toml"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The size of each message to a worker."""
    true, sizes = parallel._alone, []

    def alone(function, chunk):  # type: ignore[no-untyped-def]
        message = pickle.dumps((function, chunk))
        sizes.append(len(message))
        return pickle.loads(pickle.dumps(true(*pickle.loads(message))))

    monkeypatch.setattr(parallel, "_alone", alone)
    with joblib.parallel_config(backend="sequential"):
        yield sizes


def test_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[int]) -> None:
    monkeypatch.setattr(asked, "CHUNK", 2)
    questions = tmp_path / "questions.csv"
    with questions.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("question", "given"), *[("rain", "grass=wet"), ("grass=dry", "")] * 3, ("rain", "")]
        )
    found = []
    for jobs in ("1", "2"):
        output = tmp_path / f"{jobs}.csv"
        assert run("ask", GARDEN, "--batch", questions, "-o", output, "--jobs", jobs).returncode == 0
        found.append(output.read_bytes())
    assert found[0] == found[1]
    assert len(sent) == 8  # both runs had four chunks
    questions.write_text("question\n" + "rain\n" * 4 + "snow\n")
    told = run("ask", GARDEN, "--batch", questions, "--jobs", "2", "--engine", "lattice")
    assert told.returncode == 2
    assert "question 5" in told.stderr
    assert len(told.stderr.splitlines()) == 1


def test_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[int]) -> None:
    monkeypatch.setattr(classifying, "CHUNK", 1)
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    pictures = ["examples/nine.png", broken, "examples/nine.png"]
    told = [run("certify", *pictures, "--json", "--jobs", jobs) for jobs in ("1", "2")]
    assert told[0].stdout == told[1].stdout
    assert told[0].stderr == told[1].stderr
    assert len(json.loads(told[1].stdout)["pictures"]) == 2
    assert told[1].returncode == 2
    assert len(sent) == 6


@pytest.fixture(scope="module")
def classifier() -> nbr.RobustClassifier:
    X, y = bars(None, "train")
    settings = {
        "networks": 2,
        "linear": False,
        "width": 32,
        "depth": 1,
        "head": 8,
        "epochs": 3,
        "batch_size": 32,
        "random_state": 0,
    }
    return nbr.RobustClassifier(1.0, box=(0, 1), **settings).fit(X, y)


def test_classifiers(classifier: nbr.RobustClassifier, monkeypatch: pytest.MonkeyPatch, sent: list[int]) -> None:
    monkeypatch.setattr(estimator, "CHUNK", 7)
    X, _ = bars(None, "test")
    for name in ("certified_radius", "predict", "predict_proba", "decision_function", "belief"):
        whole, *parts = (getattr(classifier.set_params(n_jobs=jobs), name)(X) for jobs in (None, 1, 2))
        np.testing.assert_array_equal(parts[0], parts[1])
        np.testing.assert_allclose(whole, parts[0], rtol=0, atol=1e-12)
    assert len(sent) == 10 * -(-len(X) // 7)
    with pytest.raises(nbr.NbrError, match="input 9 has 3 at position 0"):
        classifier.predict(np.concatenate([X[:9], X[:1] * 0 + 3]))


def test_trainings(tmp_path: Path, sent: list[int]) -> None:
    """A model grows while rows gain; several processes may train the next size too early, but not another model."""
    found = []
    for jobs in (1, 2):
        model = nbr.fit(TABLE, steps=12, width=8, n_jobs=jobs, checkpoint=tmp_path / "run")
        model.save(tmp_path / f"{jobs}.nbr")
        found.append((tmp_path / f"{jobs}.nbr").read_bytes())
    assert found[0] == found[1]
    assert len(sent) >= 4


def test_large_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[int]) -> None:
    monkeypatch.setattr("nbr.tables.large.ROWS", 50)
    tables.frame(TABLE.world, TABLE.codes).to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    found = [tables.learnable(tmp_path / "rows.parquet", jobs=jobs) for jobs in (None, 2)]
    assert found[0].world == found[1].world
    assert torch.equal(found[0].codes, found[1].codes)
    assert found[0].counts is not None
    assert found[1].counts is not None
    assert torch.equal(found[0].counts, found[1].counts)
    assert len(sent) == 10  # five row groups, to find the world and to count
    model = tmp_path / "m.toml"
    model.write_text('variables = { a = "bit", b = ["u", "v", "w"], c = "bit", n = ["0", "1", "2", "3"] }')
    told = [run("score", model, tmp_path / "rows.parquet", "--jobs", jobs, "--json").stdout for jobs in ("1", "2")]
    assert told[0] == told[1]
    assert json.loads(told[0])["mean_log_likelihood"] == pytest.approx(-math.log(48))


def test_attacks(
    classifier: nbr.RobustClassifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[int]
) -> None:
    monkeypatch.setattr(nbr.datasets, "mnist", bars)
    monkeypatch.setattr(protocol, "BATCH", 4)
    model = tmp_path / "bars.nbr"
    classifier.save(model)
    told = {}
    for jobs in (1, 2):
        told[jobs] = attack.run(str(model), "mnist", 2.0, "quick", ["PGD"], 12, tmp_path / str(jobs), False, 0, jobs)
    assert told[1] == told[2]
    files = sorted(path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.safetensors"))
    assert len(files) == 4  # two stages, within the box and without
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
