"""A page about Table 1 that opens without a network: ours beside the paper's, and a picture."""

from __future__ import annotations

import html
from collections.abc import Sequence

from nbr import plots
from nbr.paper import pages
from nbr.paper.table1 import REPRODUCED, TABLE_1, TrainedModel

HATCHES = ["", "////", "xxxx"]
THINNEST = 0.002  # of a bar, so that an interval without a gap is seen


def page(runs: Sequence[TrainedModel]) -> str:
    """The whole page as one string, picture and all."""
    models = list(dict.fromkeys(run.model for run in runs))
    head = ["given", "question", "paper", "exact optimum"]
    head += [f"{model}, seed {_seeds(runs, model)[0].seed}" for model in models]
    rows = []
    for number, question in enumerate(TABLE_1.questions):
        ours = [_interval(_seeds(runs, model)[0].answers[number]) for model in models]
        paper = f"[{question.paper[0]}, {question.paper[1]}]"
        cells = [f"<code>{html.escape(question.given)}</code>", f"<code>{question.asked}</code>"]
        rows.append([*cells, paper, _interval(question.exact), *ours])
    seeds = []
    for run in runs:
        beliefs = ", ".join(f"{belief:.4f}" for belief in run.reasoner.beliefs.tolist())
        figures = [f"{run.error:.5f}", f"{run.excess:.1e}", beliefs, f"{run.seconds:.0f} s"]
        seeds.append([run.model, str(run.seed), *figures])
    named = ["model", "seed", "largest error", "nats a row below the best likelihood", "beliefs", "training"]
    return pages.page(
        "Table 1",
        f"""<h1>Table 1, learned again</h1>
<p>Eleven bits. Observations show the first ten or the last ten: <code>x0</code> is the majority of the nine in the
middle in 90% of them, <code>x10</code> its opposite in 80%. No observation shows <code>x0</code> and <code>x10</code>
together. The answers are [belief, plausibility]; the gap is what is not known.</p>
{pages.table("Table 1, the paper's and ours", head, rows)}
<p class="note">Why a figure differs: the paper prints two decimals. Ours are learned, and training ends when the
likelihood of a row is within a millionth of a nat of the best; a question takes a maximum over up to 1,024 points, so
the worst learned one of them decides. More than {REPRODUCED} from the exact optimum would not count as reproduced; the
largest error of these runs is {max(run.error for run in runs):.4f}. {_unlike(runs)}</p>
{pages.picture("The interval of each answer, for every seed", picture(runs))}
<p class="note">A bar for every seed, from belief to plausibility; the black frame is the exact optimum.</p>
<h2>Every seed</h2>
{pages.table("Every seed", named, seeds)}
""",
    )


def picture(runs: Sequence[TrainedModel]) -> str:
    """The intervals of every run, in the exact optimum as a frame, as an SVG."""
    models = list(dict.fromkeys(run.model for run in runs))
    high = 0.8 / len(runs)  # of a bar
    with plots.drawing(9, 0.8 + len(TABLE_1.questions) * (0.2 + 0.1 * len(runs))) as figure:
        axes = figure.subplots()
        for number, question in enumerate(TABLE_1.questions):
            low, top = question.exact
            for line, run in enumerate(runs):
                belief, plausibility = run.answers[number]
                kind = models.index(run.model)
                axes.barh(
                    number - 0.4 + high * (line + 0.5),
                    max(plausibility - belief, THINNEST),
                    high,
                    left=belief,
                    color=plots.COLOURS[kind % len(plots.COLOURS)],
                    hatch=HATCHES[kind % len(HATCHES)],
                    edgecolor="white",
                    linewidth=0.5,
                    label=None if number or run.model in [each.model for each in runs[:line]] else run.model,
                )
            axes.barh(number, max(top - low, THINNEST), 0.92, left=low, fill=False, edgecolor="black", linewidth=1.2)
        axes.set_yticks(range(len(TABLE_1.questions)), [f"{q.asked}  given  {q.given}" for q in TABLE_1.questions])
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set(xlim=(-0.01, 1.01), xlabel="from belief to plausibility")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(models))
        return plots.svg(figure)


def _unlike(runs: Sequence[TrainedModel]) -> str:
    """Which figures of the table differ from the paper's, rounded as it does."""
    models = list(dict.fromkeys(run.model for run in runs))
    found = [
        f"{model}, <code>{question.asked}</code> given <code>{html.escape(question.given)}</code>: {ours:.3f}, in the "
        f"paper {printed}"
        for model in models
        for question, answer in zip(TABLE_1.questions, _seeds(runs, model)[0].answers, strict=True)
        for ours, printed in zip(answer, question.paper, strict=True)
        if round(ours, 2) != float(printed)
    ]
    if not found:
        return "With two decimals none differs from the paper's."
    return f"With two decimals these differ from the paper's: {'; '.join(found)}."


def _seeds(runs: Sequence[TrainedModel], model: str) -> list[TrainedModel]:
    return [run for run in runs if run.model == model]


def _interval(pair: tuple[float, float]) -> str:
    return f"[{pair[0]:.4f}, {pair[1]:.4f}]"
