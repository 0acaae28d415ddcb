"""All that is wrong with a rule file, at once and with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import nbr
from command import run
from nbr.storage.toml_mistakes import MOST, lines

BAD = """\
[variables]
rain = "bit"
grass = ["dry", "wet"]   # two labels
age = { from = 18, too = 97 }

[[rules]]
name = '''
rule = "not a key"
'''
rule = "rain => grass=wet"
belief = 0.9

[[rules]]
rule = "rian & grass=wet"
beleif = 0.9

[[rules]]
rule = "age>=20 -> rain"
belief = 0.5

[[rules]]
rule = "rain"
belief = 1.2

[[rules]]
belief = 0.3
"""


def test_every_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(BAD)
    done = run("show", "bad.toml", cwd=tmp_path)
    assert done.returncode == 2
    told = done.stderr.splitlines()
    for line, words in zip(
        told,
        [
            "line 4: variable 'age'",
            "line 10: rule 1: cannot read '=>' at character 6 of 'rain => grass=wet'; write -> for an implication",
            "line 15: rule 2: unknown entry 'beleif'; did you mean 'belief'?",
            "line 23: rule 4: a belief must be a number from 0 to 1, not 1.2",
            "line 25: rule 5: has no rule",
        ],
        strict=True,
    ):
        assert line.startswith(f"nbr: bad.toml: {words}"), line


def test_no_more_mistakes_than_the_file_has(tmp_path: Path) -> None:
    """A rule that is right by itself and wrong beside others is told once, by the error of the whole."""
    place = tmp_path / "m.toml"
    place.write_text(BAD.replace("too", "to").replace("=>", "->").replace("rian", "rain").replace("beleif", "belief"))
    with pytest.raises(nbr.NbrError) as told:
        nbr.load(place)
    assert str(told.value).count("line ") == 2
    place.write_text("[variables]\na = 'bit'\n[prior]\nb = 0.2\n")
    with pytest.raises(nbr.NbrError, match="line 3"):
        nbr.load(place)
    rules = "".join(f"[[rules]]\nrule = 'x{n}'\nbelief = 0.5\n" for n in range(MOST + 5))
    place.write_text(f"[variables]\na = 'bit'\n{rules}")
    with pytest.raises(nbr.NbrError, match="and 5 more"):
        nbr.load(place)


def test_lines_are_found_where_headers_repeat_and_keys_are_quoted() -> None:
    places = lines(
        "[variables]\n\"x0..x3\" = 'bit'\n'a b' = 'bit'\n\n[[rules]] # one\nrule='x0'\n[[rules]]\nrule = 'x1'\n"
    )
    assert places["variables", "x0..x3"] == 2
    assert places["variables", "a b"] == 3
    assert places["rules", 1] == 5
    assert places["rules", 2, "rule"] == 8
