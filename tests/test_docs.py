"""What README and docs show on a terminal is what a terminal shows. Their Python runs as doctests."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import nbr
from command import run

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples" / "car.md"]
SHOWN = [
    pytest.param(command, output, id=command)
    for page in PAGES
    for command, output in re.findall(r"```console\n\$ (.*?)\n(.*?)```", page.read_text(), re.DOTALL)
]


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_console_example(command: str, output: str) -> None:
    words = shlex.split(command)
    assert words[0] == "nbr"
    done = run(*words[1:], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == output.strip()


def test_readme_model_is_the_example() -> None:
    model = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert model
    assert model[1] in (ROOT / "examples" / "garden.toml").read_text()


def test_models_in_the_guide_are_read(tmp_path) -> None:
    models = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "guide.md").read_text(), re.DOTALL)
    assert len(models) >= 2
    for text in models:
        (tmp_path / "m.toml").write_text(text)
        assert len(nbr.load(tmp_path / "m.toml").rules) >= 3


def test_table_1_demo() -> None:
    done = subprocess.run([sys.executable, "examples/table1.py"], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "[0.6667, 0.7500]    [0.67, 0.75]" in done.stdout
