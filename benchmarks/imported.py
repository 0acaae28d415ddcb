"""Networks in BIF by `nbr import`, beside pgmpy: are probabilities, beliefs and plausibilities the same?

    python benchmarks/imported.py FOLDER [NAME ...] [--conditions N]

FOLDER holds NAME.bif, as pgmpy ships them (asia, alarm, insurance). Every value of every variable under random
conditions on up to two variables is compared with pgmpy's variable elimination; a few are asked for belief too.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from pgmpy.inference import VariableElimination
from pgmpy.readwrite import BIFReader

from nbr.app.importing import bif
from nbr.kinds import parsed
from nbr.language.expressions import Atom, conjunction
from nbr.storage import container


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("names", nargs="*", default=["asia", "alarm", "insurance"])
    arguments.add_argument("--conditions", type=int, default=10)
    arguments.add_argument("--asked", type=int, default=10)
    given = arguments.parse_args()
    for name in given.names:
        path = given.folder / f"{name}.bif"
        ours = parsed(container.toml(bif.model(path.read_text())), given.folder, name)
        theirs = BIFReader(str(path)).get_model()
        elimination, draw = VariableElimination(theirs), random.Random(29)
        labels = {node: theirs.get_cpds(node).state_names[node] for node in theirs.nodes()}
        worst = worst_asked = 0.0
        compared = asked = exact = 0
        spent = {"nbr": 0.0, "pgmpy": 0.0}
        for round_ in range(given.conditions):
            seen = {node: draw.choice(labels[node]) for node in draw.sample(sorted(labels), round_ % 3)}
            said = conjunction([Atom(node, "=", (label,)) for node, label in seen.items()])
            began = time.perf_counter()
            try:
                found = ours.marginals(said)
            except ValueError:  # impossible
                continue
            spent["nbr"] += time.perf_counter() - began
            table = {(row.variable, row.value): row.probability for row in found.itertuples()}
            for node in sorted(set(labels) - set(seen)):
                began = time.perf_counter()
                known = elimination.query([node], evidence=seen, show_progress=False)
                spent["pgmpy"] += time.perf_counter() - began
                for label, value in zip(known.state_names[node], known.values, strict=True):
                    worst = max(worst, abs(table[node, label] - float(value)))
                    compared += 1
            for _ in range(given.asked // given.conditions):
                node = draw.choice(sorted(set(labels) - set(seen)))
                known = elimination.query([node], evidence=seen, show_progress=False)
                answer = ours.ask(Atom(node, "=", (known.state_names[node][0],)), said)
                asked, exact = asked + 1, exact + answer.exact
                if answer.exact:
                    ends = abs(answer.belief - known.values[0]), abs(answer.plausibility - known.values[0])
                    worst_asked = max(worst_asked, *map(float, ends))
        print(f"{name}: {compared} probabilities, largest difference {worst:.1e}", flush=True)
        print(f"  seconds {spent['nbr']:.2f} (pgmpy {spent['pgmpy']:.2f})")
        print(f"  {asked} asked, {exact} exact, largest difference of belief and plausibility {worst_asked:.1e}")


if __name__ == "__main__":
    main()
