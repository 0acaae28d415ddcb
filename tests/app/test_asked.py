"""nbr ask for many questions, and nbr explain."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from command import run as nbr

ROOT = Path(__file__).parents[2]
GARDEN = str(ROOT / "examples" / "garden.toml")
MAJORITY = str(ROOT / "examples" / "majority.toml")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.csv"
    path.write_text('question,given\nrain,"grass=wet, ~sprinkler"\nsprinkler,"grass=dry, rain"\nrain,\n')
    return path


def test_a_file_of_questions(questions: Path, tmp_path: Path) -> None:
    output = tmp_path / "answers.csv"
    done = nbr("ask", GARDEN, "--batch", str(questions), "-o", str(output))
    assert done.returncode == 0, done.stderr
    with output.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["belief"]) for row in rows] == pytest.approx([0.7, 0.0, 0.0])
    assert [float(row["plausibility"]) for row in rows] == pytest.approx([1.0, 0.4, 1.0])
    assert rows[2]["given"] == ""
    assert list(tmp_path.glob("*.part")) == []
    found = json.loads(nbr("ask", GARDEN, "--batch", str(questions), "--json").stdout)
    assert found["answers"][1]["conflict"] == pytest.approx(0.9)


def test_a_batch_that_was_stopped_goes_on(questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbr.app import asked

    settings = {"engine": "auto", "budget": 10.0, "tolerance": 1e-3, "grid": None, "seed": 0}
    whole, output = tmp_path / "whole.csv", tmp_path / "answers.csv"
    asked.many(Path(GARDEN), None, None, questions, whole, settings, False)
    monkeypatch.setattr(asked, "CHUNK", 1)
    true, calls = asked.ask_many, []

    def breaks(*parts, **named):  # type: ignore[no-untyped-def]
        calls.append(parts[1])
        if len(calls) == 3:
            raise KeyboardInterrupt
        return true(*parts, **named)

    monkeypatch.setattr(asked, "ask_many", breaks)
    with pytest.raises(KeyboardInterrupt):
        asked.many(Path(GARDEN), None, None, questions, output, settings, False)
    assert not output.exists()
    monkeypatch.setattr(asked, "ask_many", lambda *parts, **named: calls.append(parts[1]) or true(*parts, **named))
    asked.many(Path(GARDEN), None, None, questions, output, settings, False)
    assert len(calls) == 4  # only the one that was not answered is asked again
    assert output.read_bytes() == whole.read_bytes()
    # another budget is another run: nothing is taken over
    part = tmp_path / "answers.csv.part"
    part.write_text(json.dumps({"run": "another", "rows": [["x", None, 0, 0, 0, True]] * 3}))
    asked.many(Path(GARDEN), None, None, questions, output, settings, False)
    assert output.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("ask\nrain\n", "no column 'question'"),
        ("question,given\n,rain\n", "row 2 has no question"),
        ("question,given\nrian,\n", "did you mean 'rain'"),
    ],
)
def test_a_bad_file_of_questions(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(content)
    done = nbr("ask", GARDEN, "--batch", str(path), "-o", str(tmp_path / "a.csv"))
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "a.csv").exists()


def test_explain_in_words_and_json(tmp_path: Path) -> None:
    asked = ("explain", MAJORITY, "x5", "--given", "x0=1, x1..x4=0, x6..x10=1")
    done = nbr(*asked, "--plot", str(tmp_path / "e.png"))
    words = " ".join(done.stdout.split())
    assert "Conflict 0.67" in words
    assert "rather yes: x5" in words
    assert "rules 1 and 2" in words
    assert (tmp_path / "e.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(nbr(*asked, "--json").stdout)
    assert found["supports"] == [[1]]
    assert found["conflicts"] == [[1, 2]]
    assert found["supports_complete"] is True
    assert [rule["rule"] for rule in found["rules"]] == [1, 2]
    assert found["rules"][1]["without"]["belief"] == pytest.approx(8 / 9)
    assert found["witness"]["x5"] == "1"
    assert found["counter"]["x5"] == "0"
    assert found["answer"]["exact"] is True
