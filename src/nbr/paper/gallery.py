"""The smallest changes found that make classifiers give up a label, as a picture: the same images for all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from nbr import plots
from nbr.robustness import AttackResult, Attempt, Subject, attack

STEPS = {"DDN": 300, "margin": 200, "SCW": 240}
ACROSS, DOWN, NAMES = 1.12, 1.4, 2.6  # from image to image, from line to line, and for names, in widths of an image


def chosen(labels: Tensor, each: int = 5) -> Tensor:
    """The first images of every label."""
    return torch.cat([(labels == label).nonzero()[:each, 0] for label in labels.unique()])


def nearest(subject: Subject, rows: Tensor, epsilon: float) -> AttackResult:
    """The nearest inputs that lose the label, by the attacks that look for the smallest change."""
    attempt = Attempt(subject.images[rows], subject.labels[rows], subject.starts[rows], epsilon)
    found = None
    for name, steps in STEPS.items():
        tried = attack(name).run(subject.target, attempt, steps)
        found = tried if found is None else found.better(tried)
    assert found is not None
    return found


def picture(images: Tensor, found: Mapping[str, AttackResult]) -> str:
    """The images in the first line, then a line for each classifier with the length of each change, as an SVG."""
    lines = [("as they are", images, torch.full((len(images),), torch.nan))]
    lines += [(name, each.inputs, each.distance) for name, each in found.items()]
    wide, high = len(images) * ACROSS, len(lines) * DOWN
    with plots.drawing(0.8 * (wide + NAMES), 0.8 * high) as figure:
        figure.set_layout_engine("none")
        axes = figure.add_axes((NAMES / (wide + NAMES), 0, wide / (wide + NAMES), 1))
        axes.set_axis_off()
        for line, (name, shown, distance) in enumerate(lines):
            top = line * DOWN
            axes.text(-0.15, top + 0.5, name, ha="right", va="center")
            for number, (image, far) in enumerate(zip(shown, distance.tolist(), strict=True)):
                left = number * ACROSS
                if math.isnan(far) or 0 < far < math.inf:
                    place = (left, left + 1, top + 1, top)
                    axes.imshow(image.clamp(0, 1).numpy(), "gray", vmin=0, vmax=1, extent=place, interpolation="none")
                if not math.isnan(far):
                    words = {0: "wrong already", math.inf: "none found"}.get(far, f"{far:.2f}")
                    axes.text(left + 0.5, top + 1.08, words, ha="center", va="top", fontsize=8)
        axes.set(xlim=(0, wide), ylim=(high, 0))
        return plots.svg(figure)
