"""What people write in a .toml: things, variables and rules for each of them."""

from pathlib import Path

import pytest

import nbr

HEAD = """
[things]
person = ["ann", "bob", "cid"]
day = "1..3"

[variables]
"smokes[person]" = "bit"
"friends[person, person]" = "bit"
"mood[person]" = ["good", "bad"]
"home[person]" = ["ann", "bob", "cid"]
"wet[day]" = "bit"
"t[1..2]" = { from = 0, to = 10 }
"""


def read(tmp_path: Path, rules: str, head: str = HEAD) -> nbr.Reasoner:
    path = tmp_path / "model.toml"
    path.write_text(head + rules)
    found = nbr.load(path)
    assert isinstance(found, nbr.Reasoner)
    return found


def said(reasoner: nbr.Reasoner) -> list[str]:
    return [rule.describe() for rule in reasoner.rules]


def test_variables_for_each_thing(tmp_path) -> None:
    world = read(tmp_path, "").world
    assert world.names[:3] == ("smokes[ann]", "smokes[bob]", "smokes[cid]")
    assert len([name for name in world.names if name.startswith("friends[")]) == 9
    assert world.names[-5:] == ("wet[1]", "wet[2]", "wet[3]", "t[1]", "t[2]")
    assert world.variables["mood[bob]"] == nbr.Choice("good", "bad")


def test_a_rule_for_each_of_a_list(tmp_path) -> None:
    reasoner = read(
        tmp_path,
        '[[rules]]\nfor = { p = ["ann", "bob"] }\nrule = "smokes[p] -> mood[p]=bad"\nbelief = 0.8\nname="grim"',
    )
    assert said(reasoner) == ["smokes[ann] -> mood[ann]=bad", "smokes[bob] -> mood[bob]=bad"]
    assert [rule.name for rule in reasoner.rules] == ["grim [ann]", "grim [bob]"]
    assert [rule.degree for rule in reasoner.rules] == [0.8, 0.8]
    assert reasoner.ask("mood[bob]=bad", given="smokes[bob]").belief == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("where", "pairs"),
    [
        ("", 9),
        ("p != q", 6),
        ("p < q", 3),
        ("p <= q", 6),
        ("p = q", 3),
        ("p != q & q != bob", 4),
        ("p=ann | q in {bob, cid}", 7),
        ("~(p=q)", 6),
        ("p > ann, q >= bob", 4),
    ],
)
def test_conditions_on_things(tmp_path, where: str, pairs: int) -> None:
    rule = 'for = { p = "person", q = "person" }\nrule = "friends[p, q] & smokes[p] -> smokes[q]"\nbelief = 0.4'
    condition = f'where = "{where}"\n' if where else ""
    assert len(read(tmp_path, f"[[rules]]\n{condition}{rule}").rules) == pairs


def test_things_as_labels_and_each_pair_once(tmp_path) -> None:
    rule = (
        '[[rules]]\nfor = { p = "person", q = "person" }\nwhere = "p < q"\nrule = "friends[p,q] -> home[p]=q"\nbelief=1'
    )
    assert said(read(tmp_path, rule)) == [
        "friends[ann,bob] -> home[ann]=bob",
        "friends[ann,cid] -> home[ann]=cid",
        "friends[bob,cid] -> home[bob]=cid",
    ]


def test_saved_and_read_again(tmp_path) -> None:
    reasoner = read(tmp_path, '[[rules]]\nfor = { d = "day" }\nrule = "wet[d]"\nbelief = 0.5')
    reasoner.save(tmp_path / "m.nbr")
    again = nbr.load(tmp_path / "m.nbr")
    assert isinstance(again, nbr.Reasoner)
    assert again.world == reasoner.world
    assert said(again) == ["wet[1]", "wet[2]", "wet[3]"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('for = { p = "persons" }\nrule = "smokes[p]"', "rule 1: 'p': there are no things called 'persons'.*'person'"),
        ('for = { p = "person" }\nrule = "smokes[ann]"', "no \\[p\\] is in the rule"),
        ('for = { p = [] }\nrule = "smokes[p]"', "'p' must be a list of names"),
        ('for = { p = ["ann", "ann"] }\nrule = "smokes[p]"', "contains a name twice"),
        ('for = { p = ["a,b"] }\nrule = "smokes[p]"', "cannot be the name of a thing"),
        ('for = { p = ["dan"] }\nrule = "smokes[p]"', "unknown variable 'smokes\\[dan\\]'"),
        ('for = { p = "person" }\nwhere = "q != p"\nrule = "smokes[p]"', "where compares indices"),
        ('for = { p = "person" }\nwhere = "p"\nrule = "smokes[p]"', "where compares indices"),
        ('for = { p = "person" }\nwhere = "p < zoe"\nrule = "smokes[p]"', "not in the list of 'p'"),
        ('for = { p = "person" }\nwhere = "p = zoe"\nrule = "smokes[p]"', "no combination of things meets"),
        ('for = { p = "person" }\nmemory = { "smokes[ann]" = 1 }\nradius = 1', "for needs a rule"),
        ('where = "p != q"\nrule = "smokes[ann]"', "for must say what each index stands for"),
        ('for = ["p"]\nrule = "smokes[p]"', "for must say"),
        ('for = { p = "1..999", q = "1..999" }\nrule = "friends[p, q]"', "more than 100,000"),
    ],
)
def test_wrong_rule(tmp_path, rule: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words) as error:
        read(tmp_path, f"[[rules]]\nbelief = 0.5\n{rule}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("things = 3\n[variables]\na = 'bit'", r"\[things\] must be a table"),
        ("[things]\np = 'q'\n[variables]\na = 'bit'", "no things called 'q'"),
        ("[things]\np = ['a']\n[variables]\n'x[p]' = 'bit'\n'x[a]' = 'bit'", "appears twice"),
        ("[variables]\n'x[,]' = 'bit'", "empty index"),
        ("[variables]\n'x[1..400, 1..400]' = 'bit'", "more than 100,000"),
        ("[[rules]]\nrule = 'a'\nbelief = 1", r"no \[variables\]"),
        ("[variables]\na = 'bit'\nclosed = ['a']", r"closed = \[..\] above the first \[table\]"),
        ("[variables]\na = 'bit'\n[sources]\nclosed = ['a']", r"closed = \[..\] above the first \[table\]"),
    ],
)
def test_wrong_variables(tmp_path, head: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        read(tmp_path, "", head)


ORDERED = """
[things]
person = ["ann", "bob"]
[variables]
"age[person]" = { from = 0, to = 100, step = 1 }
"rank[person]" = { ordered = ["low", "mid", "high"] }
"leads[person]" = "bit"
[words]
"old[person]" = { "age[person]" = [50, 70] }
"senior[p]" = { "age[ann]" = [50, 70] }
"""


def test_words_and_orders_for_each_thing(tmp_path) -> None:
    rules = '[[rules]]\nfor = { p = "person" }\nrule = "rank[p]>=mid & old[p] -> leads[p]"\nbelief = 0.8'
    model = read(tmp_path, rules, ORDERED)
    assert list(model.world.words) == ["old[ann]", "old[bob]", "senior[p]"]
    assert said(model)[1] == "rank[bob]>=mid & old[bob] -> leads[bob]"
    assert model.ask("leads[bob]", "age[bob]=65, rank[bob]=high").belief == pytest.approx(0.8 * 0.75)
    assert model.ask("leads[ann]", "age[bob]=65, rank[bob]=high").belief == 0
    model.save(tmp_path / "again.toml")
    assert nbr.load(tmp_path / "again.toml").world.words == model.world.words
    with pytest.raises(nbr.NbrError, match="'old\\[cid\\]'"):
        read(tmp_path, '[[rules]]\nfor = { p = ["cid"] }\nrule = "old[p]"\nbelief = 0.8', ORDERED)
    with pytest.raises(nbr.NbrError, match="appears twice"):
        read(tmp_path, "", ORDERED.replace("senior[p]", "old[ann]"))
