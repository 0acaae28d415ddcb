"""`nbr train MODEL EXAMPLES.csv`: sensors of a model learn from statements about pictures."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbr.errors import NbrError

if TYPE_CHECKING:
    from nbr.reasoner import Reasoner

Report = dict[str, Any]
HELD = 0.1  # of all examples, to measure by
FEWEST = 50  # examples, below which all are learned from
WORST = 3  # rules whose beliefs are shown


def taught(
    model: Path,
    examples: Path,
    output: Path,
    says: str | None,
    network: str | None,
    beliefs: bool,
    epochs: int | None,
    groups: int | None,
    seed: int,
    jobs: int | None,
) -> Report:
    """Train, save, and tell what it is worth on examples held out."""
    import torch

    from nbr.app import screen
    from nbr.app.classifying import aside
    from nbr.kinds import load_reasoner
    from nbr.teaching import Examples, agreement, train
    from nbr.training import generator

    known = load_reasoner(model)
    found = Examples.of(known.world, examples, says, jobs)
    order = torch.randperm(len(found), generator=generator(seed, 0))
    held = order[: round(HELD * len(found)) if len(found) >= FEWEST else 0]
    learn = found.only(order[len(held) :].sort().values)
    told = f"{len(found):,} examples of {len(found.where)} pictures each, {len(found.pool):,} different ones of"
    aside(f"{examples}: {told} {' x '.join(map(str, found.shape))}")
    part = output.with_name(output.name + ".part")
    if part.exists():
        aside(f"continuing the run that was stopped ({part})")
    start = time.monotonic()
    try:
        made = train(
            known,
            learn,
            network=network,
            beliefs=beliefs,
            epochs=epochs,
            groups=groups,
            seed=seed,
            checkpoint=part,
            verbose=True,
        )
    except KeyboardInterrupt:
        if part.exists():
            aside(f"stopped; the same command continues from {part}")
        raise
    report: Report = {"output": str(output), "sensors": list(found.where), "learned_from": len(learn)}
    report |= {"held_out": len(held), "agree": None, "nats": None, "left_open": screen.left_open(made)}
    if len(held) and not report["left_open"]:
        report["agree"], report["nats"] = agreement(made, found.only(held.sort().values))
    report["seconds"] = round(time.monotonic() - start)
    report["beliefs"] = _moved(known, made) if beliefs else []
    made.save(output)
    return report


def _moved(before: "Reasoner", after: "Reasoner") -> list[dict[str, Any]]:
    both = zip(before.rules, after.rules, strict=True)
    return [
        {"rule": number, "text": str(new), "belief": new.degree}
        for number, (old, new) in enumerate(both, 1)
        if new.degree != old.degree
    ]


def shown(report: Report) -> str:
    """In words."""
    names = report["sensors"]
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    lines = [f"{report['output']}: sees {listed}; learned from {report['learned_from']:,} statements"]
    if report["left_open"]:
        lines += [f"  {note}" for note in report["left_open"]]
    elif report["agree"] is None:
        lines.append(f"  nothing was held out: fewer than {FEWEST} examples")
    else:
        lines.append(
            f"  of {report['held_out']:,} examples that were held out, what is read agrees with what was said"
            f" in {report['agree']:.1%}"
        )
        lines.append(
            "  this does not prove that the labels are right: --groups finds out which labels "
            "such statements leave open"
        )
    lines += [
        f"  rule {each['rule']}, {each['text']}: belief {each['belief']:.3f}" for each in report["beliefs"][:WORST]
    ]
    return "\n".join(lines)


def check(epsilon: object, size: int, usual: int) -> None:
    """Settings of the other form of the command."""
    if epsilon is not None:
        raise NbrError(
            "--epsilon applies to classifiers trained on folders; for sensors with a proof use --network nonexpansive"
        )
    if size != usual:
        raise NbrError("--size applies to classifiers trained on folders")
