"""What README and docs show on a terminal is what a terminal shows. Their Python runs as doctests."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import nbr
from command import run
from nbr.asking import explaining
from nbr.ways import Limits

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / "examples" / f"{name}.md" for name in ("car", "cellar", "incident")),
]
SHOWN = {
    page.stem: found
    for page in PAGES
    if (found := re.findall(r"```console\n\$ (.*?)\n(.*?)```", page.read_text(), re.DOTALL))
}


@pytest.mark.parametrize("page", SHOWN)
def test_console_examples(page: str, tmp_path: Path) -> None:
    """A reader stands beside the examples and types what the page shows; a line of three dots is what it leaves out."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, output in SHOWN[page]:
        words = shlex.split(command)
        assert words[0] == "nbr"
        done = run(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        kept, dots, _ = output.strip().partition("\n...")
        told = done.stdout.strip()
        assert (told[: len(kept)] if dots else told) == kept, command


def test_readme_model_is_the_example() -> None:
    model = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert model
    assert model[1] in (ROOT / "examples" / "garden.toml").read_text()


@pytest.mark.parametrize(("page", "least"), [("guide", 2), ("expert", 1), ("index", 1)])
def test_models_on_the_pages_are_read(page: str, least: int, tmp_path) -> None:
    models = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.DOTALL)
    models = [text for text in models if "[variables]" in text]  # others are fragments
    assert len(models) >= least
    for text in models:
        (tmp_path / "m.toml").write_text(text)
        assert len(nbr.load(tmp_path / "m.toml").rules) >= 3


def test_table_1_demo() -> None:
    done = subprocess.run([sys.executable, "examples/table1.py"], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "[0.6667, 0.7500]    [0.67, 0.75]" in done.stdout


def test_what_the_page_of_the_car_says_of_its_rules() -> None:
    """Its explanation takes a minute, most of it for what to observe next: here is what the page tells of it."""
    car, given = nbr.load(ROOT / "examples" / "car.toml"), "~starts, lights=bright, jump_helps"
    assert isinstance(car, nbr.Reasoner)
    found = explaining.minimal_sets(car.model, nbr.parse("bad[battery]"), nbr.parse(given), Limits.within(60.0))
    assert found.conflicts == [{15, 18, 22}]
    assert found.mattering == {15, 18, 22}
    for number, (belief, plausibility) in {16: (0.51, 1.0), 19: (0.0, 0.15), 23: (0.0, 0.15)}.items():
        others = [rule for place, rule in enumerate(car.rules, 1) if place != number]
        answer = nbr.Reasoner(car.world, others).ask("bad[battery]", given, budget=60.0)
        assert (answer.belief, answer.plausibility, answer.conflict) == pytest.approx(
            (belief, plausibility, 0), abs=1e-9
        )
