"""The five questions of the paper's Table 1, answered from rules written by hand: `make demo` runs this."""

from pathlib import Path

import nbr
from nbr.app.screen import bar

PAPER = [  # condition, question, belief and plausibility as printed in the paper
    ("x0=1", "x10", "0", "0.33"),
    ("x0=0", "x10", "0.67", "1"),
    ("x0=1, x1..x4=0", "x5", "0.89", "1"),
    ("x0=1, x1..x4=0, x10=1", "x5", "0.67", "1"),
    ("x0=1, x1..x4=0, x6..x10=1", "x5", "0.67", "0.75"),
]


def main() -> None:
    model = nbr.load(Path(__file__).with_name("majority.toml"))
    print("An 11-bit world. Two rules, each believed to a degree:")
    for rule in model.rules:
        print(f"  {rule.degree:.4f}  {rule}")
    print(f"\n{'given':<28}{'question':<10}{'ours':<20}{'paper':<16}conflict")
    for given, question, belief, plausibility in PAPER:
        answer = model.ask(question, given)
        ours, theirs = f"[{answer.belief:.4f}, {answer.plausibility:.4f}]", f"[{belief}, {plausibility}]"
        print(f"{given:<28}{question:<10}{ours:<20}{theirs:<16}{answer.conflict:.4f}")
        print(f"{'':<28}{bar(answer.bounds.belief, answer.bounds.plausibility)}")


if __name__ == "__main__":
    main()
