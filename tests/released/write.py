"""Write the files of a release, with what its models answer: `python tests/released/write.py tests/released/VERSION`.

Run it with the package of that release, before the next one is begun; test_compatibility.py reads them from then on.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

import nbr


def by_hand() -> nbr.Reasoner:
    torch.manual_seed(0)
    world = nbr.World({"rain": nbr.Bit(), "blood pressure": nbr.Real(60, 220), "c": nbr.Choice("é", "b c")})
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    rules = [
        nbr.Clause('rain -> "blood pressure">=140', 0.9, name="law"),
        nbr.Neural(["rain", "c"], network, 1 / 3),
        nbr.Memory({"rain": 1, "c": "b c"}, 0.5, 0.2),
    ]
    return nbr.Reasoner(world, rules)


def learned(draw: np.random.Generator) -> nbr.Reasoner:
    first = draw.integers(0, 2, 400)
    second = np.where(draw.random(400) < 0.8, first, 1 - first)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rows.csv")
        table.write_text("a,b\n" + "".join(f"{a},{b}\n" for a, b in zip(first, second, strict=True)))
        return nbr.fit(str(table), rules=1, steps=200, seed=0)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw, told = np.random.default_rng(0), {}
    asked = {
        "rules.nbr": (by_hand(), [("rain", "c=é"), ('"blood pressure">=140', "rain")]),
        "learned.nbr": (learned(draw), [("b", "a"), ("a", None)]),
    }
    for name, (model, questions) in asked.items():
        model.save(folder / name)
        answers = [(question, given, model.ask(question, given=given)) for question, given in questions]
        told[name] = [[question, given, a.belief, a.plausibility] for question, given, a in answers]
    inputs = draw.normal(size=(80, 4))
    classifier = nbr.RobustClassifier(epsilon=0.3, networks=2, width=4, depth=1, epochs=3, random_state=0)
    classifier.fit(inputs, (inputs[:, 0] > 0).astype(int)).save(folder / "robust.nbr")
    shown = inputs[:3]
    told["robust.nbr"] = [
        shown.tolist(),
        classifier.predict(shown).tolist(),
        classifier.certified_radius(shown).tolist(),
    ]
    (folder / "told.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
