"""Counts models in a process of its own, which can be ended: a script that imports nothing of ours.

Reads one JSON object a line on standard input and writes one a line; the counter now and then prints to standard
output itself, which is therefore set aside.
"""

import json
import os
import sys


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import pyganak

    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        counter = pyganak.WeightedCounter()
        counter.new_vars(asked["variables"])
        counter.add_clauses(asked["clauses"])
        for literal, weight in asked["weights"]:
            counter.set_lit_weight(literal, weight)
            counter.set_lit_weight(-literal, 1 - weight)
        if asked["projected"] is not None:
            counter.set_sampling_set(asked["projected"])
        answers.write(json.dumps(counter.count()) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
