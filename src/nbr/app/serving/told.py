"""What answers about pictures say: the shapes of their JSON, for the description of the API."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Label = bool | int | str
Degree = Annotated[float, Field(ge=0, le=1)]
Radius = Annotated[float, Field(ge=0, description="An L2 length; no change up to it gives another label.")]
Shades = Annotated[list[int], Field(description="Pixels from 0, black, to 255, white, row by row.")]
Of = Annotated[Literal["file", "prepared picture", "numbers"], Field(description="What a proof is about.")]


class Told(BaseModel):
    """Nothing is left out, and nothing else is said."""

    model_config = ConfigDict(extra="forbid")


class CountedRule(Told):
    """A rule that counted, numbered from 1."""

    rule: int
    kind: Literal["network", "linear rule", "memory"] | str
    speaks_for: Label
    weight: float
    proved_radius: Radius | None
    image: Shades | None = Field(description="The example that a memory remembers.")


class Classified(Told):
    """The label of a picture, how far it is believed, and how far the picture may be changed."""

    label: Label
    intervals: dict[str, tuple[Degree, Degree]] | None = Field(description="Belief and plausibility of every label.")
    conflict: Degree | None
    conflict_tells: bool = Field(description="Whether conflict is larger where labels are more often wrong.")
    familiarity: Degree | None = Field(description="How far the rules are believed, for what the picture looks like.")
    proved_radius: Radius | None
    proved_of: Of
    prepared_radius: Radius | None = Field(description="The same of what the classifier saw.")
    prepared_shape: list[int] | None
    rules: list[CountedRule]
    warnings: list[str]
    image: Shades | None = Field(description="What the classifier saw.")


class Certified(Told):
    """The label of a picture and the proof."""

    label: Label
    proved_radius: Radius | None
    proved_of: Of
    warnings: list[str]


class Attacked(Told):
    """The nearest picture with another label that was found; nothing where none was."""

    label: Label | None
    distance: Radius | None
    image: Shades | None
