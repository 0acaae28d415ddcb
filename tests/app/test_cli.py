"""The command line as a user meets it: its output, its exit code; first of all as a process of its own."""

import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from command import run as nbr
from nbr.priors.search import MixtureSearch
from nbr.storage.locks import hold

MAJORITY = Path(__file__).parents[2] / "examples" / "majority.toml"


def process(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nbr", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_ask_prints_the_interval() -> None:
    done = process("ask", MAJORITY, "x10", "--given", "x0=1")
    assert done.returncode == 0
    assert "belief       0.0000" in done.stdout
    assert "plausibility 0.3333" in done.stdout
    assert "exact" in done.stdout
    assert done.stderr == ""


def test_ask_json_is_one_object() -> None:
    done = nbr("ask", MAJORITY, "x5", "--given", "x0=1, x1..x4=0, x6..x10=1", "--json")
    answer = json.loads(done.stdout)
    assert answer["belief"] == pytest.approx(2 / 3, abs=1e-9)
    assert answer["plausibility"] == pytest.approx(3 / 4, abs=1e-9)
    assert answer["exact"] is True
    assert answer["bounds"]["kind"] == "proved"
    assert answer["bounds"]["belief"] == pytest.approx([2 / 3, 2 / 3], abs=1e-9)


def test_sampled_answer_carries_its_interval() -> None:
    done = nbr("ask", MAJORITY, "x10", "--given", "x0", "--engine", "sampled", "--tolerance", "0.02", "--json")
    answer = json.loads(done.stdout)
    low, high = answer["bounds"]["plausibility"]
    assert answer["exact"] is False
    assert answer["bounds"]["kind"] == "95%"
    assert low <= 1 / 3 <= high
    assert high - low <= 0.02
    assert answer["plausibility"] == high


def test_numbers_are_shown_as_they_are_written(tmp_path) -> None:
    kinds = 'day = { from = "2021-01-01", to = "2021-12-31" }\nvisits = { from = 0, to = 50, step = 1 }'
    (tmp_path / "m.toml").write_text(f"[variables]\n{kinds}\n[[rules]]\nrule = 'visits>=3'\nbelief = 0.5\n")
    shown = nbr("show", "m.toml", cwd=tmp_path).stdout
    assert "from 2021-01-01 to 2021-12-31\n" in shown
    assert "from 0 to 50 in steps of 1\n" in shown


def test_show_and_combine(tmp_path) -> None:
    (tmp_path / "a.toml").write_text("[variables]\na = 'bit'\nb = 'bit'\n[[rules]]\nrule = 'a -> b'\nbelief = 0.8\n")
    (tmp_path / "b.toml").write_text("[variables]\nb = 'bit'\nc = 'bit'\n[[rules]]\nrule = 'b -> c'\nbelief = 0.5\n")
    done = nbr("combine", "a.toml", "b.toml", "-o", "c.nbr", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "3 variables, 2 rules" in done.stdout
    shown = nbr("show", "c.nbr", cwd=tmp_path)
    assert "0.8000  a -> b" in shown.stdout
    listed = json.loads(nbr("show", "c.nbr", "--json", cwd=tmp_path).stdout)
    assert [rule["belief"] for rule in listed["rules"]] == [0.8, 0.5]
    assert listed["variables"] == {"a": "bit", "b": "bit", "c": "bit"}
    asked = json.loads(nbr("ask", "c.nbr", "c", "--given", "a", "--json", cwd=tmp_path).stdout)
    assert asked["belief"] == pytest.approx(0.4)


def test_combining_what_contradicts_writes_nothing(tmp_path) -> None:
    for name, rule in (("a", "a"), ("b", "~a")):
        (tmp_path / f"{name}.toml").write_text(f"[variables]\na = 'bit'\n[[rules]]\nrule = '{rule}'\nbelief = 1\n")
    done = nbr("combine", "a.toml", "b.toml", "-o", "c.nbr", cwd=tmp_path)
    refused(done, "contradict")
    assert not (tmp_path / "c.nbr").exists()


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("nbr: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert words in done.stderr


BAD = {
    "misspelt": ("[variables]\nrain = 'bit'\n", ["ask", "m.toml", "rian"], "did you mean 'rain'"),
    "value": ("[variables]\ng = ['dry', 'wet']\n", ["ask", "m.toml", "g=wett"], "did you mean 'wet'"),
    "bracket": ("[variables]\na = 'bit'\n", ["ask", "m.toml", "(a"], "')' is missing"),
    "belief": ("[variables]\na = 'bit'\n[[rules]]\nrule = 'a'\nbelief = 1.2\n", ["show", "m.toml"], "not 1.2"),
    "nan": ("[variables]\na = 'bit'\n[[rules]]\nrule = 'a'\nbelief = nan\n", ["show", "m.toml"], "not nan"),
    "empty": ("", ["show", "m.toml"], "empty"),
    "missing": ("", ["show", "nowhere.nbr"], "No such file"),
    "budget": ("[variables]\na = 'bit'\n", ["ask", "m.toml", "a", "--budget", "soon"], "--budget"),
    "command": ("", ["aks"], "aks"),
    "argument": ("", ["ask", "m.toml"], "question"),
    "one model": ("[variables]\na = 'bit'\n", ["combine", "m.toml", "-o", "c.nbr"], "two or more"),
    "impossible": ("[variables]\na = 'bit'\n", ["ask", "m.toml", "a", "--given", "a & ~a"], "cannot hold"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(case: str, tmp_path) -> None:
    text, command, words = BAD[case]
    (tmp_path / "m.toml").write_text(text)
    refused(nbr(*command, cwd=tmp_path), words)
    assert [path.name for path in tmp_path.iterdir()] == ["m.toml"]


def test_pickle_renamed(tmp_path) -> None:
    (tmp_path / "m.nbr").write_bytes(pickle.dumps([1, 2]))
    refused(nbr("show", "m.nbr", cwd=tmp_path), "not an NBR model")


def test_help_version_and_no_torch() -> None:
    assert "ask" in process("--help").stdout
    assert nbr().stdout == nbr("--help").stdout
    assert nbr("--version").stdout.startswith("nbr ")
    assert process("aks").returncode == 2
    code = "import sys, nbr, nbr.app.cli; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_fit_score_sample(tmp_path) -> None:
    rows = ["a,b", *(["1,1", "0,0"] * 45), *(["1,0", "0,1"] * 5), ",1", "0,"]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    done = nbr("fit", "t.csv", "-o", "m.nbr", "--steps", "150", "--rules", "1", "--seed", "3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["variables"] == {"a": "bit", "b": "bit"}
    assert "102 rows, 2 columns: a bit, b bit" in done.stderr
    assert report["kept"] == "trained again on all rows"
    assert report["valid_measured_on"].startswith("10 rows that were not used to choose")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.nbr", "t.csv"]
    scored = json.loads(nbr("score", "m.nbr", "t.csv", "--json", cwd=tmp_path).stdout)
    assert scored["rows"] == 102
    assert scored["exact"] is True
    assert -1.1 < scored["mean_log_likelihood"] < -0.9
    drawn = nbr("sample", "m.nbr", "-n", "4", "--given", "a", "--seed", "1", cwd=tmp_path)
    assert drawn.stdout.splitlines()[0] == "a,b"
    assert len(drawn.stdout.splitlines()) == 5
    assert drawn.stdout == nbr("sample", "m.nbr", "-n", "4", "--given", "a", "--seed", "1", cwd=tmp_path).stdout


def test_a_second_fit_to_the_same_output_is_refused(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "1,1\n0,0\n" * 20)
    with hold(tmp_path / "m.nbr"):
        refused(nbr("fit", "t.csv", "-o", "m.nbr", cwd=tmp_path), "m.nbr belongs to a run that has not ended")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_ctrl_c_while_a_prior_is_learned_keeps_what_was_found(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (700, 6))
    np.savetxt(tmp_path / "t.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d,e,f", comments="")
    words = ["fit", "t.csv", "-o", "m.nbr", "--prior", "trees", "--rules", "1", "--steps", "5"]
    true, tried = MixtureSearch._learned, 0

    def stopped(search: MixtureSearch, *given: object) -> object:
        nonlocal tried
        tried += 1
        if tried == 3:
            raise KeyboardInterrupt
        return true(search, *given)

    monkeypatch.setattr(MixtureSearch, "_learned", stopped)
    done = nbr(*words, cwd=tmp_path)
    assert done.returncode == 130
    assert "stopped; the same command continues from m.nbr.part" in done.stderr
    assert len(list((tmp_path / "m.nbr.part").glob("prior-*"))) == 2
    done = nbr(*words, cwd=tmp_path)
    assert (done.returncode, "continuing the run that was stopped" in done.stderr) == (0, True)
    assert "prior: " in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.nbr", "t.csv"]


BAD_TABLES = {
    "empty": ("", "the file is empty"),
    "0 rows": ("a,b\n", "0 rows"),
    "1 row": ("a,b\n1,0\n", "1 row"),
    "all empty": ("a,b\n,\n,\n", "no column is left to learn from"),
    "strings": ("a,b\n0,1.5\n1,2.5\n0,x\n1,3.5\n", "row 4, column 'b'"),
    "inf": ("a,b\n0,1.5\n1,inf\n0,2.5\n", "row 3, column 'b'"),
    "fields": ("a,b\n0,1\n1\n", "row 3 has 1 field"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables_are_one_line_and_exit_2(case: str, tmp_path) -> None:
    text, words = BAD_TABLES[case]
    (tmp_path / "t.csv").write_text(text)
    refused(nbr("fit", "t.csv", "-o", "m.nbr", cwd=tmp_path), words)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_label_unseen_in_training(tmp_path) -> None:
    (tmp_path / "m.toml").write_text("[variables]\nc = ['u', 'v']\n")
    (tmp_path / "t.csv").write_text("c\nu\nw\n")
    scored = json.loads(nbr("score", "m.toml", "t.csv", "--json", cwd=tmp_path).stdout)
    assert scored["mean_log_likelihood"] == pytest.approx((math.log(0.5) + math.log(1e-3)) / 2)


def test_what_a_user_says_of_columns(tmp_path) -> None:
    rows = [f"p{i};{i % 3};{'none' if i % 5 == 0 else i / 2}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["who;group;level", *rows]))
    said = ("--column", "group=choice", "--column", "level=real:0:100", "--drop", "who", "--na", "none", "--sep", ";")
    fitted = nbr("fit", "t.csv", "-o", "m.nbr", "--valid", "t.csv", "--steps", "5", "--rules", "1", *said, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    variables = json.loads(nbr("show", "m.nbr", "--json", cwd=tmp_path).stdout)["variables"]
    assert variables == {"group": ["0", "1", "2"], "level": {"from": 0.0, "to": 100.0}}
    refused(nbr("fit", "t.csv", "-o", "n.nbr", "--column", "level", cwd=tmp_path), "name=kind")


def test_an_infinite_number_is_no_label(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n0,inf\n1,2\n")
    refused(nbr("fit", "t.csv", "-o", "m.nbr", cwd=tmp_path), "row 3, column 'b': 'inf' is not a number")
