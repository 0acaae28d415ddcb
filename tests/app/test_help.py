"""The help of every command: whole sentences, at most 80 columns, and an example that can be run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import nbr
from command import run
from nbr.app.cli import app
from nbr.app.groups import GROUPS

COMMANDS = sorted(get_command(app).commands)
SENTENCE = re.compile(r"[\w*'\"()\-+.,;:/&=~ <>\[\]%|@]+[.)]\Z")


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_80_columns_wide_and_nothing_is_cut(command: str) -> None:
    done = run(*([command] if command else []), "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    usage, _, rest = done.stdout.partition("\n\n")
    assert usage.startswith(f"Usage: nbr {command}")
    assert not re.search(r"\.\.\.$|…", rest, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_it_says_are_sentences(command: str) -> None:
    found = get_command(app).commands[command]
    assert found.help is not None
    prose, *_ = found.help.split("\b")
    for paragraph in filter(None, (" ".join(each.split()) for each in prose.split("\n\n"))):
        assert paragraph[0].isupper(), paragraph
        assert paragraph.endswith("."), paragraph
    for each in found.params:
        words = getattr(each, "help", None)
        if each.name == "help":
            continue
        assert words, f"{command} {each.name}: no help"
        assert SENTENCE.match(words), f"{command} {each.name}: {words}"
        assert words[0].isupper() or words.startswith(("mnist", "table1")), words


def test_commands_stand_in_groups_with_an_example_first() -> None:
    told = run("--help").stdout
    titles = [f"{title}:" for title in GROUPS]
    assert [line for line in told.splitlines() if line in titles] == titles
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z]", told, re.MULTILINE), name
    assert run().stdout == told
    assert "nbr ask first.toml grass=wet --given rain" in told


def test_the_examples_of_the_help_run(tmp_path: Path) -> None:
    lines = [line.strip() for line in run("--help").stdout.partition("Begin with:")[2].splitlines()]
    for line in lines:
        words = line.split("   ")[0].split()
        if words and words[1] not in ("serve", "COMMAND"):
            done = run(*words[1:], cwd=tmp_path)
            assert done.returncode == 0, (line, done.stderr)


def test_init_writes_a_file_that_answers_and_is_kept(tmp_path: Path) -> None:
    assert run("init", "rain.toml", cwd=tmp_path).returncode == 0
    model = nbr.load(tmp_path / "rain.toml")
    assert model.ask("grass=wet", given="rain").belief == pytest.approx(0.9)
    assert run("check", "rain.toml", cwd=tmp_path).returncode == 0
    text = (tmp_path / "rain.toml").read_text()
    assert "nbr ask rain.toml grass=wet" in text
    assert tomllib.loads(text)["rules"]
    (tmp_path / "rain.toml").write_text(text + "# mine\n")
    done = run("init", "rain.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert "rain.toml exists already; --force overwrites it" in done.stderr
    assert (tmp_path / "rain.toml").read_text().endswith("# mine\n")
    assert run("init", "rain.toml", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / "rain.toml").read_text() == text
    assert "must end in .toml" in run("init", "rain.txt", cwd=tmp_path).stderr


def test_output_overwrites_nothing_unless_told(tmp_path: Path) -> None:
    run("init", "a.toml", cwd=tmp_path)
    before = (tmp_path / "a.toml").read_bytes()
    for words in (["combine", "a.toml", "a.toml"], ["distil", "a.toml"], ["sample", "a.toml"]):
        done = run(*words, "-o", "a.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert "--force overwrites it" in done.stderr
    assert (tmp_path / "a.toml").read_bytes() == before
    (tmp_path / "empty.csv").touch()  # as mktemp makes it: nothing is lost
    assert run("sample", "a.toml", "-n", "3", "-o", "empty.csv", cwd=tmp_path).returncode == 0
    assert run("sample", "a.toml", "-n", "4", "-o", "empty.csv", "--force", cwd=tmp_path).returncode == 0
    assert len((tmp_path / "empty.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize("command", COMMANDS)
def test_every_output_file_is_looked_at(command: str) -> None:
    """A command with an output that is one file has --force beside it."""
    named = {each.name: each for each in get_command(app).commands[command].params}
    if "output" in named and command != "attack":  # a folder, which goes on where it was
        assert "force" in named
        assert named["output"].callback is not None


def test_a_comparison_outside_the_range_of_a_number_is_noted(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        "[variables]\nage = { from = 18, to = 97 }\nold = 'bit'\n[[rules]]\nrule = 'age>=200 -> old'\nbelief = 0.5\n"
    )
    done = run("ask", "m.toml", "age<5", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "nbr: note: age is from 18 to 97, so age<5 never holds",
        "nbr: note: rule 1: age is from 18 to 97, so age>=200 never holds",
    ]
    assert run("ask", "m.toml", "age>=97", "--given", "age>18", cwd=tmp_path).stderr.count("note") == 1


def test_a_table_in_the_place_of_a_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,0\n")
    done = run("ask", "rows.csv", "a", cwd=tmp_path)
    assert done.returncode == 2
    assert "this is a table, not a model; learn one first: nbr fit rows.csv -o rows.nbr" in done.stderr
