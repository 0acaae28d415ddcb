"""What requests may say: the shapes of their JSON."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from nbr.errors import NbrError

LETTERS = 4_000
AT_ONCE = 100  # pictures
Words = Annotated[str, Field(min_length=1, max_length=LETTERS)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63)]
Numbers = Annotated[list[Annotated[int, Field(ge=1)]], Field(max_length=100_000)]


class Body(BaseModel):
    """Unknown entries are errors: a misspelt setting is never ignored."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Written(Body):
    """A rule that was changed or added on the page: it counts for this request alone."""

    rule: Annotated[int, Field(ge=1)] | None = Field(
        None, description="The number of a rule of the model; null adds one."
    )
    says: Words | None = Field(None, description="The statement, such as rain -> grass=wet; null leaves it as it is.")
    belief: Annotated[float, Field(ge=0, le=1)]
    name: Annotated[str, Field(max_length=LETTERS)] | None = None


def content(picture: str) -> bytes:
    """A file that came in base64."""
    try:
        return base64.b64decode(picture.encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise NbrError("the picture is not base64") from None


class About(Body):
    """A condition, pictures, rules that are switched off, changed or added, and how long it may take."""

    given: Annotated[str, Field(max_length=LETTERS)] | None = Field(None, description="A condition, as x0=1, x1..x4=0.")
    off: Numbers = Field([], description="Numbers, from 1, of the rules to leave out.")
    rules: Annotated[list[Written], Field(max_length=500)] = Field([], description="Rules changed or added.")
    see: Annotated[dict[str, str], Field(max_length=100)] = Field(
        {}, description="A picture for each of some variables that have a sensor: a file in base64."
    )
    budget: Seconds | None = Field(None, description="Seconds; the server has a limit of its own.")
    seed: Seed = 0


class Ask(About):
    question: Words = Field(description="What to ask; the bare name of a choice or a number ranks its values.")
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 1e-3


class Explain(About):
    question: Words


class AskMany(About):
    questions: Annotated[list[Words], Field(min_length=1, max_length=500)]
    probability: bool = Field(False, description="Also compute the probability, if the model has a prior.")


class Marginals(About):
    """Every value of every variable at once."""


class Look(About):
    """What pictures show: one for at least one variable."""


class Edited(Body):
    """Rules changed, added or switched off, as they are to be listed or saved."""

    off: Numbers = []
    rules: Annotated[list[Written], Field(max_length=500)] = []


class SampleBody(About):
    count: Annotated[int, Field(ge=1, le=10_000)] = 10


class Picture(Body):
    """One input of a classifier: a picture file in base64, or its numbers."""

    picture: str | None = Field(None, description="A PNG, JPEG, GIF, BMP or WebP file in base64.")
    numbers: Annotated[list[Annotated[float, Field(allow_inf_nan=False)]], Field(max_length=100_000)] | None = Field(
        None, description="Or the numbers themselves, row by row."
    )
    sample: Annotated[int, Field(ge=0)] | None = Field(None, description="Or the number of a sample, from 0.")


class PicturesBody(Body):
    """Several inputs of a classifier."""

    pictures: Annotated[list[Picture], Field(min_length=1, max_length=AT_ONCE)]
