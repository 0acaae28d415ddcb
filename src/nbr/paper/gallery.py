"""The smallest changes found that make classifiers give up a label, as a picture: the same images for all of them."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

import torch
from PIL import Image
from torch import Tensor

from nbr.robustness.attacks import attack
from nbr.robustness.base import Attempt, Found
from nbr.robustness.protocol import Subject

STEPS = {"DDN": 300, "margin": 200, "SCW": 240}
SIDE = 56  # of a picture on the page
GAP, LEFT = 8, 170


def chosen(labels: Tensor, each: int = 5) -> Tensor:
    """The first images of every label."""
    return torch.cat([(labels == label).nonzero()[:each, 0] for label in labels.unique()])


def nearest(subject: Subject, rows: Tensor, epsilon: float) -> Found:
    """The nearest inputs that lose the label, by the attacks that look for the smallest change."""
    attempt = Attempt(subject.images[rows], subject.labels[rows], subject.starts[rows], epsilon)
    found = None
    for name, steps in STEPS.items():
        tried = attack(name).run(subject.target, attempt, steps)
        found = tried if found is None else found.better(tried)
    assert found is not None
    return found


def picture(images: Tensor, found: Mapping[str, Found]) -> str:
    """An SVG: the images in the first line, then a line for each classifier with the length of each change."""
    high = SIDE + 18 + GAP
    parts = [_line("as they are", images, None, 0)]
    parts += [
        _line(name, each.inputs, each.distance, number * high) for number, (name, each) in enumerate(found.items(), 1)
    ]
    size = f"0 0 {LEFT + len(images) * (SIDE + GAP)} {(len(found) + 1) * high}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" font-size="12">'
    return f"{head}{''.join(parts)}</svg>"


def _line(name: str, images: Tensor, distance: Tensor | None, top: int) -> str:
    parts = [f'<text x="0" y="{top + SIDE / 2 + 4}" font-size="13">{name}</text>']
    for number, image in enumerate(images):
        x = LEFT + number * (SIDE + GAP)
        far = None if distance is None else float(distance[number])
        if far is None or 0 < far < float("inf"):
            place = f'x="{x}" y="{top}" width="{SIDE}" height="{SIDE}" style="image-rendering:pixelated"'
            parts.append(f'<image {place} href="{_png(image)}"/>')
        if far is not None:
            words = "wrong already" if far == 0 else f"{far:.2f}"
            parts.append(f'<text x="{x + SIDE / 2}" y="{top + SIDE + 14}" text-anchor="middle">{words}</text>')
    return "".join(parts)


def _png(image: Tensor) -> str:
    file = io.BytesIO()
    Image.fromarray((255 * image.clamp(0, 1)).round().to(torch.uint8).numpy(), "L").save(file, "png")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
