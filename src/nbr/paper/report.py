"""A page about Table 1 that opens without a network: ours beside the paper's, and a picture."""

from __future__ import annotations

import html
from collections.abc import Sequence

from nbr.paper.table1 import QUESTIONS, Trained

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums; }
code { background: #f4f4f4; padding: 0 .2rem; } .note { color: #666; } svg { width: 100%; height: auto; }
"""
COLOURS = {"identity": "#2a6f97", "autoencoder": "#c9622f"}


def page(runs: Sequence[Trained]) -> str:
    """The whole page as one string, picture and all."""
    models = list(dict.fromkeys(run.model for run in runs))
    head = "".join(f"<th>{model}, seed {_seeds(runs, model)[0].seed}</th>" for model in models)
    rows = []
    for number, question in enumerate(QUESTIONS):
        ours = "".join(f"<td>{_interval(_seeds(runs, model)[0].answers[number])}</td>" for model in models)
        paper = f"[{question.paper[0]}, {question.paper[1]}]"
        cells = f"<td><code>{html.escape(question.given)}</code></td><td><code>{question.asked}</code></td>"
        rows.append(f"<tr>{cells}<td>{paper}</td><td>{_interval(question.exact)}</td>{ours}</tr>")
    seeds = "".join(
        f"<tr><td>{run.model}</td><td>{run.seed}</td><td>{run.error:.5f}</td><td>{run.excess:.1e}</td>"
        f"<td>{', '.join(f'{b:.4f}' for b in run.reasoner.beliefs.tolist())}</td><td>{run.seconds:.0f} s</td></tr>"
        for run in runs
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Table 1</title><style>{STYLE}</style></head>
<body><h1>Table 1, learned again</h1>
<p>Eleven bits. Observations show the first ten or the last ten: <code>x0</code> is the majority of the nine in the
middle in 90% of them, <code>x10</code> its opposite in 80%. No observation shows <code>x0</code> and <code>x10</code>
together. The answers are [belief, plausibility]; the gap is what is not known.</p>
<table><tr><th>given</th><th>question</th><th>paper</th><th>exact optimum</th>{head}</tr>{"".join(rows)}</table>
{picture(runs)}
<p class="note">A bar for every seed, from belief to plausibility; the black frame is the exact optimum.</p>
<h2>Every seed</h2>
<table><tr><th>model</th><th>seed</th><th>largest error</th><th>nats a row below the best likelihood</th>
<th>beliefs</th><th>training</th></tr>{seeds}</table>
</body></html>
"""


def picture(runs: Sequence[Trained]) -> str:
    """The intervals of every run as an SVG."""
    height, bar, left, width = 30 + 12 * len(runs), 9, 330, 560
    parts = []
    for number, question in enumerate(QUESTIONS):
        top = number * height
        label = html.escape(f"{question.asked}  given  {question.given}")
        parts.append(f'<text x="0" y="{top + 22}" font-size="14">{label}</text>')
        low, high = question.exact
        frame = f'x="{left + width * low:.1f}" width="{max(width * (high - low), 1):.1f}"'
        for line, run in enumerate(runs):
            belief, plausibility = run.answers[number]
            x, span = left + width * belief, max(width * (plausibility - belief), 1.0)
            y = top + 12 + 12 * line
            colour = COLOURS.get(run.model, "#777")
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{span:.1f}" height="{bar}" fill="{colour}" fill-opacity="0.8"/>'
            )
        tall = 12 * len(runs) + 2
        parts.append(f'<rect {frame} y="{top + 9}" height="{tall}" fill="none" stroke="black" stroke-width="1.2"/>')
    total = height * len(QUESTIONS)
    for tick in range(5):
        x = left + width * tick / 4
        parts.append(f'<line x1="{x}" y1="0" x2="{x}" y2="{total}" stroke="#ccc" stroke-dasharray="3 3"/>')
        parts.append(f'<text x="{x}" y="{total + 16}" font-size="12" text-anchor="middle">{tick / 4:g}</text>')
    models = dict.fromkeys(run.model for run in runs)
    for number, model in enumerate(models):
        x = left + 130 * number
        parts.append(f'<rect x="{x}" y="{total + 28}" width="12" height="12" fill="{COLOURS.get(model, "#777")}"/>')
        parts.append(f'<text x="{x + 18}" y="{total + 39}" font-size="13">{model}</text>')
    size = f"0 0 {left + width + 20} {total + 48}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">{"".join(parts)}</svg>'


def _seeds(runs: Sequence[Trained], model: str) -> list[Trained]:
    return [run for run in runs if run.model == model]


def _interval(pair: tuple[float, float]) -> str:
    return f"[{pair[0]:.4f}, {pair[1]:.4f}]"
