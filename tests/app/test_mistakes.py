"""What people do wrong on their first day: each is told in a line that says what, where and what would work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import run

GARDEN = Path(__file__).parents[2] / "examples" / "garden.toml"
FILES = {
    "empty.csv": "",
    "empty.toml": "",
    "names.csv": "a,b\n",
    "inf.csv": "a,b\n" + "1,inf\n2,3\n" * 9,
    "twice.csv": "a,b\n" + "1,0\n0,1\n" * 9 + "a,b\n1,0\n",
    "short.csv": "a,b\n1,0\n1\n",
    "bytes.csv": "\0\1\2,\3\n" * 9,
    "not.nbr": "hello",
    "wrong.toml": '[variables]\nrain = "bitt"\n[[rules]]\nrule = "rain"\nbelief = 1.5\n[[rules]]\nrul = "rain"\n',
}
TOLD = {
    "ask GARDEN rian": "question: unknown variable 'rian'; did you mean 'rain'? (at character 1)",
    "ask GARDEN grass=wett": "question: 'grass': 'wett' is not one of its labels; did you mean 'wet'? (at character 1)",
    "ask GARDEN rain --budget -1": "--budget must be a number of seconds above 0, not -1",
    "explain GARDEN rain --budget nan": "--budget must be a number of seconds above 0, not nan",
    "ask GARDEN rain --engine latice": "unknown engine 'latice'; did you mean 'lattice'?",
    "ask not.nbr rain": "not.nbr: this is not an NBR model, or it is damaged",
    "ask empty.toml rain": "empty.toml: the file is empty",
    "ask nowhere.toml rain": "cannot read nowhere.toml: No such file or directory",
    "sample GARDEN -n -3": "the number of samples must not be below 0: -3",
    "fit empty.csv -o m.nbr": "empty.csv: the file is empty",
    "fit names.csv -o m.nbr": "names.csv: there are 0 rows, and learning needs more",
    "fit inf.csv -o m.nbr": "inf.csv: row 2, column 'b': 'inf' is not a number; leave it empty where nothing",
    "fit twice.csv -o m.nbr": "twice.csv: row 20 has the names of the columns again; take it out",
    "fit short.csv -o m.nbr": "short.csv: row 3 has 1 field, and there are 2 columns",
    "fit bytes.csv -o m.nbr": "bytes.csv: not a CSV file: it has zero bytes, as pictures, archives and UTF-16 have",
    "fit GARDEN -o m.nbr": "garden.toml: this is a model, not a table; ask it: nbr ask",
    "train nowhere -o c.nbr": "nowhere is not a folder; class folders have a sub-folder for each label",
    "classify empty.csv": "empty.csv: not a picture that can be read",
    "reproduce table2 --only NBRR": "no row 'NBRR'; did you mean 'NBR'?",
}


@pytest.mark.parametrize("words", TOLD)
def test_one_line_that_helps(words: str, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    done = run(*(str(GARDEN) if word == "GARDEN" else word for word in words.split()), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("nbr: ")
    assert TOLD[words] in line
    assert {each.name for each in tmp_path.iterdir()} == set(FILES)  # nothing half-written


def test_rules_are_looked_at_though_no_variable_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(FILES["wrong.toml"])
    lines = run("check", "wrong.toml", cwd=tmp_path).stderr.splitlines()
    assert [line.split(": ")[2] for line in lines] == ["line 2", "line 5", "line 6"]
    assert "rule 1: a belief must be a number from 0 to 1, not 1.5" in lines[1]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as a fresh process takes it: a browser that other tests have left open takes it for itself."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("swallowed", [False, True])
def test_ctrl_c_is_told_though_a_library_swallows_it_and_breaks(
    swallowed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(place: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if not swallowed:
                raise
        raise RecursionError("of a library that is loaded in part")

    monkeypatch.setattr("nbr.kinds.load_reasoner", load)
    done = run("check", str(GARDEN))
    assert (done.returncode, done.stderr) == (130, "nbr: stopped\n")
