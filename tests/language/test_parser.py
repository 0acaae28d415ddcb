"""The query language: what sentences mean, that printing loses nothing, and errors that point."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nbr
from nbr.language import expressions as ex

WORLD = nbr.World(
    {
        "rain": nbr.Bit(),
        "x1": nbr.Bit(),
        "x2": nbr.Bit(),
        "x3": nbr.Bit(),
        "color": nbr.Choice("red", "light blue", "true", "3"),
        "blood pressure": nbr.Real(60, 220),
        "size[ann]": nbr.Choice("m", "2xl", "1.5x", "1e5"),
        "near[ann,living room]": nbr.Bit(),
    }
)
COLUMNS = [[0, 1]] * 4 + [[0, 1, 2, 3], [60, 90, 139.9, 140, 140.1, 220], [0, 1, 2, 3], [0, 1]]
POINTS = torch.cartesian_prod(*[torch.tensor(values, dtype=torch.float64) for values in COLUMNS])


def holds(text: str) -> torch.Tensor:
    expression = nbr.parse(text)
    expression.check(WORLD)
    return expression.holds(WORLD, POINTS)


RAIN, X1, X2, X3 = (POINTS[:, column] == 1 for column in range(4))
COLOR, PRESSURE, SIZE, NEAR = POINTS[:, 4], POINTS[:, 5], POINTS[:, 6], POINTS[:, 7] == 1

MEANINGS = {
    "rain": RAIN,
    "~rain": ~RAIN,
    "not rain": ~RAIN,
    "rain=1": RAIN,
    "rain==0": ~RAIN,
    "rain!=1": ~RAIN,
    "rain=false": ~RAIN,
    "color=red": COLOR == 0,
    'color="light blue"': COLOR == 1,
    "color=true": COLOR == 2,
    "color=3": COLOR == 3,
    "color!=red": COLOR != 0,
    'color in {red, "light blue"}': COLOR <= 1,
    '"blood pressure">=140': PRESSURE >= 140,
    '"blood pressure"<140': PRESSURE < 140,
    '90 <= "blood pressure" < 140': (PRESSURE >= 90) & (PRESSURE < 140),
    '140 < "blood pressure"': PRESSURE > 140,
    "x1 & x2": X1 & X2,
    "x1 and x2": X1 & X2,
    "x1, x2": X1 & X2,
    "x1 | x2": X1 | X2,
    "x1 OR x2": X1 | X2,
    "x1 -> x2": ~X1 | X2,
    "x1 <-> x2": X1 == X2,
    "x1 | x2 & x3": X1 | (X2 & X3),
    "~x1 & x2": ~X1 & X2,
    "x1 & x2 -> x3 | rain": ~(X1 & X2) | X3 | RAIN,
    "x1 -> x2 -> x3": ~X1 | ~X2 | X3,
    "x1 -> x2 <-> x3": (~X1 | X2) == X3,
    "x1 <-> x2 <-> x3": (X1 == X2) == X3,
    "x1 | x2, x3": (X1 | X2) & X3,
    "(x1 -> x2), x3": (~X1 | X2) & X3,
    "x1..x3=0": ~X1 & ~X2 & ~X3,
    "~x1..x3": ~(X1 & X2 & X3),
    "x1..x3": X1 & X2 & X3,
    "count(x1..x3)>=2": POINTS[:, 1:4].sum(1) >= 2,
    "count(x1..x3, rain)=1": POINTS[:, :4].sum(1) == 1,
    "count(x1..x3=0) < 2": POINTS[:, 1:4].sum(1) > 1,
    "majority(x1..x3)": POINTS[:, 1:4].sum(1) >= 2,
    "majority(x1, x2)": X1 & X2,
    "one(x1..x3)": POINTS[:, 1:4].sum(1) == 1,
    "one(x1, x1)": X1 & ~X1,
    "at_most_one(x1..x3)": POINTS[:, 1:4].sum(1) <= 1,
    "rain -> one(x1, x2, color=red)": ~RAIN | (POINTS[:, 1] + POINTS[:, 2] + (COLOR == 0) == 1),
    "size[ann]=2xl": SIZE == 1,
    "size[ann] in {2xl, 1.5x, m}": SIZE <= 2,
    "size[ ann ]=1e5": SIZE == 3,
    'size[ann]="2xl" & "size[ann]"!=m': SIZE == 1,
    "near[ann,living room]": NEAR,
    "near[ann ,  living  room] | x1..x2=0": NEAR | (~X1 & ~X2),
    '"near[ann,living room]"': NEAR,
    "any(x1..x3)": X1 | X2 | X3,
    "all(x1, color=red)": X1 & (COLOR == 0),
    "true": X1 | ~X1,
    "false & x1": X1 & ~X1,
}


@pytest.mark.parametrize("text", MEANINGS)
def test_meaning(text: str) -> None:
    assert torch.equal(holds(text), MEANINGS[text])


@pytest.mark.parametrize("text", MEANINGS)
def test_printed_sentence_means_the_same(text: str) -> None:
    assert torch.equal(holds(str(nbr.parse(text))), MEANINGS[text])


NUMBERS = st.sampled_from(["60", "90", "139.9", "140", "-1", "1e2", "220"])
ATOMS = st.one_of(
    st.sampled_from([ex.Atom(name) for name in ("rain", "x1", "x2", "x3")]),
    st.builds(
        lambda name, sign, value: ex.Atom(name, sign, (value,)),
        st.sampled_from(["rain", "x1"]),
        st.sampled_from(["=", "!=", ">=", "<=", "<", ">"]),
        st.sampled_from(["0", "1", "true", "no"]),
    ),
    st.builds(lambda value: ex.Atom("color", "=", (value,)), st.sampled_from(["red", "light blue", "true", "3"])),
    st.builds(lambda values: ex.Atom("color", "in", tuple(values)), st.permutations(["red", "true", "3"])),
    st.builds(
        lambda sign, value: ex.Atom("blood pressure", sign, (value,)),
        st.sampled_from(["=", "!=", ">=", "<=", "<", ">"]),
        NUMBERS,
    ),
    st.builds(lambda value: ex.Atom("size[ann]", "=", (value,)), st.sampled_from(["m", "2xl", "1.5x", "1e5"])),
    st.just(ex.Atom("near[ann,living room]")),
    st.builds(ex.Constant, st.booleans()),
)


def larger(parts: st.SearchStrategy[ex.Expression]) -> st.SearchStrategy[ex.Expression]:
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(ex.Not, parts),
        st.builds(ex.And, several),
        st.builds(ex.Or, several),
        st.builds(ex.Iff, several),
        st.builds(ex.Implies, parts, parts),
        st.builds(ex.Majority, several),
        st.builds(ex.Count, several, st.sampled_from(["=", ">=", "<"]), st.integers(0, 4).map(float)),
    )


@given(st.recursive(ATOMS, larger, max_leaves=12))
def test_printing_and_parsing_gives_the_same_set(expression: ex.Expression) -> None:
    again = nbr.parse(str(expression))
    assert torch.equal(again.holds(WORLD, POINTS), expression.holds(WORLD, POINTS))
    assert again == expression


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a statement is missing"),
        ("(x1", r"'\)' is missing at the end"),
        ("x1)", "too many at character 3"),
        ("x1 & ", "missing at the end"),
        ("x1 @ x2", "character 6"),
        ("x1 x2", "cannot read 'x2' at character 4"),
        ("count(x1..x3)", "compared with a number"),
        ("cuont(x1..x3)>=2", "did you mean 'count'"),
        ("majority(x1..x3)>=2", "only count"),
        ("x3..x1", "not a range"),
        ("x1..y3", "not a range"),
        ("x[]", "empty index"),
        ("x[a,,b]", "empty index"),
        ("x[a", r"cannot read '\[' at character 2"),
        ("3a=x1", "cannot read '3a' at character 1"),
        ("one(x1, x2)=1", "only count"),
        ("on(x1, x2)", "did you mean 'one'"),
        ("x1..x9999999", "more than"),
        ("~" * 500 + "x1", "nested"),
        ("x1 -> " * 500 + "x1", "nested"),
        ("x1 & " * 9999 + "x1", "has more than"),
    ],
)
def test_wrong_sentence(text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words) as error:
        nbr.parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rian", "did you mean 'rain'.*character 1"),
        ("x1 & x7", "unknown variable 'x7'.*character 6"),
        ("color=blue", "not one of its labels.*light blue"),
        ("color>=red", "is a choice"),
        ("color", "is a choice"),
        ("rain=2", "0 or 1"),
        ('"blood pressure"', "compare it"),
        ('"blood pressure">=high', "not a number"),
    ],
)
def test_sentence_about_another_world(text: str, words: str) -> None:
    with pytest.raises(nbr.NbrError, match=words):
        holds(text)


def test_names_and_labels_are_printed_without_quotation_marks_where_that_can_be_read() -> None:
    assert str(nbr.parse("'size[ann]' in {2xl, \"1.5x\"}")) == "size[ann] in {2xl, 1.5x}"
    assert str(nbr.parse('"near[ann, x]"')) == '"near[ann, x]"'  # a blank that reading would remove


@given(st.text(alphabet='x123 ()~&|,-><=.{}[]"in:é\n\t\0color', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        nbr.parse(text)
    except nbr.NbrError as error:
        assert "\n" not in str(error)


def test_statements_are_up_to_sixty_deep() -> None:
    assert nbr.parse("rain").depth == 1
    assert nbr.parse("~(rain & (x1 | x2))").depth == 4
    assert nbr.parse("~(" * 59 + "rain" + ")" * 59).depth == 60
    with pytest.raises(nbr.NbrError, match="more than 60 deep"):
        nbr.parse("~(" * 60 + "rain" + ")" * 60)
