"""Signs of other languages are named, with ours."""

import pytest

import nbr

MEANT = {
    "rain => wet": ("'=>' at character 6", "write -> for"),
    "rain ==> wet": ("'==>' at character 6", "write -> for"),
    "rain implies wet": ("'implies' at character 6", "write -> for"),
    "rain <=> wet": ("'<=>' at character 6", "write <-> for"),
    "rain && wet": ("'&&' at character 6", "write & for"),
    "rain || wet": ("'||' at character 6", "write | for"),
    "!rain": ("'!' at character 1", "write ~ for"),
    "rain → wet": ("'→' at character 6", "write -> for"),
    "age ≥ 3": ("'≥' at character 5", "write >= for"),
    "grass is wet": ("'is' at character 7", "write = for"),
    "if rain then wet": ("'if' at character 1", "write a -> b"),
    "age between 3 and 4": ("'between' at character 5", "write a range"),
}


@pytest.mark.parametrize("text", MEANT)
def test_the_sign_that_was_meant(text: str) -> None:
    with pytest.raises(nbr.NbrError) as told:
        nbr.parse(text)
    for words in MEANT[text]:
        assert words in str(told.value)


def test_what_is_wrong_elsewhere_is_not_blamed_on_it() -> None:
    with pytest.raises(nbr.NbrError, match=r"cannot read '\)' at character"):
        nbr.parse("a != b & ( )")
