"""What answers look like: the shapes of their JSON, for descriptions and typed clients. New entries may come."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

Ends = tuple[float, float]


class Reply(BaseModel):
    model_config = ConfigDict(extra="allow")


class BoundsReply(Reply):
    """What each number lies between; "proved", or an interval of 95%."""

    belief: Ends
    plausibility: Ends
    conflict: Ends
    kind: str


class Interval(Reply):
    """Belief, plausibility and conflict; of an answer that is not exact the outer ends of their bounds."""

    belief: float
    plausibility: float
    conflict: float | None = None
    exact: bool
    bounds: BoundsReply


class ProbabilityReply(Reply):
    """How often: value and error are null where nothing was computed, open where the data leave nothing open."""

    value: float | None
    error: float | None
    exact: bool
    range: Ends | None = Field(None, description="The 95% range: what this many rows leave possible.")
    rows: float | None = Field(None, description="The number of rows that meet the condition.")
    open: Ends | None = None
    method: str
    note: str


class AnswerReply(Interval):
    """The answer to a question."""

    question: str
    given: str | None
    conflict: float
    engine: str
    rules: int
    points: int | None
    notes: list[str]
    probability: ProbabilityReply | None = None


class Valued(Interval):
    """One value of a variable."""

    value: str


class AskedReply(Reply):
    """The answer to a question; of the bare name of a variable its values instead, the most plausible first."""

    question: str | None = None
    variable: str | None = None
    given: str | None
    belief: float | None = None
    plausibility: float | None = None
    conflict: float
    exact: bool
    bounds: BoundsReply | None = None
    probability: ProbabilityReply | None = None
    values: list[Valued] | None = None


class Answers(Reply):
    answers: list[AnswerReply]


class Without(Reply):
    """A rule, and what the answer would be without it."""

    rule: int
    text: str
    belief: float
    without: Interval


class Next(Reply):
    """A variable to observe, and the mean gap between belief and plausibility after that."""

    variable: str
    gap: float


class ExplanationReply(Reply):
    """What an answer owes to each rule. Sets of rules are lists of their numbers."""

    answer: AnswerReply
    rules: list[Without]
    supports: list[list[int]]
    against: list[list[int]]
    conflicts: list[list[int]]
    supports_complete: bool
    conflicts_complete: bool
    witness: dict[str, str] | None
    counter: dict[str, str] | None
    next: list[Next]
    words: str


class RuleReply(Reply):
    """A rule of the model."""

    rule: int
    kind: str
    name: str | None
    says: str
    belief: float
    inputs: list[str]


class Rules(Reply):
    rules: list[RuleReply]


class Label(Reply):
    """A value, and how it is written in a question."""

    value: str
    written: str


class VariableOf(Reply):
    """A variable of the model; numbers have ends, choices have values."""

    name: str
    written: str
    kind: str
    values: list[Label] | None = None
    unit: str | None = None


class File(Reply):
    """What differs when the file of the model has changed, and what is wrong with it."""

    version: str
    savable: bool
    trouble: str | None


class Prepares(Reply):
    """What is done to a picture file."""

    kind: str
    words: str


class Sensed(Reply):
    """A variable with a sensor: the shape of its pictures, and what is done to a file."""

    shape: list[int]
    preparation: Prepares


class ModelReply(File):
    """A model of rules."""

    name: str
    kind: str
    prior: bool
    learned: bool
    variables: list[VariableOf]
    rules: list[RuleReply]
    sensors: dict[str, Sensed] = Field({}, description="Variables of which pictures can be seen.")


class BarReply(Reply):
    """One value of a column, or one piece of a number: its share, and the condition that it stands for."""

    value: str
    set: str
    probability: float | None
    range: Ends | None


class ColumnReply(Reply):
    name: str
    rows: float | None
    bars: list[BarReply]


class Shares(Reply):
    variables: list[ColumnReply]
    exact: bool
    note: str | None


class SeenPicture(Reply):
    """A picture: the value read with the others, and the one that it would show alone."""

    value: str
    question: str = Field(description="What to ask for the interval of that value, with the same pictures.")
    alone: str
    shows: dict[str, float] = Field(description="How plausible the picture alone makes each value.")
    notes: list[str]


class BrokenRule(Reply):
    """A rule that does not hold at the values read; evidence of pictures is rules too."""

    rule: int
    text: str
    belief: float


class SeenTogether(Reply):
    """The values read: of each picture, and the best of all other variables."""

    pictures: dict[str, SeenPicture]
    point: dict[str, str]
    corrected: list[str]
    broken: list[BrokenRule]
    degree: float
    exact: bool
    radius: float | None = Field(description="Changes of all pictures together, in L2; null with a proof: any change.")
    budget: str
    proved_of: str | None = Field(description="file or prepared picture; null where nothing could be proved.")
    unproved: str | None = Field(None, description="Why nothing is proved, where no proof was possible.")


class SampledReply(Reply):
    rows: list[dict[str, str | float | int]]
    method: str


class Certified(Reply):
    """A label, and the L2 radius within which it is proved to stay."""

    label: str | int | float | bool
    proved_radius: float | None
    proved_of: str | None
    warnings: list[str]


class ReasonReply(Reply):
    """A rule that counted."""

    rule: int
    kind: str
    speaks_for: str | int | float | bool
    weight: float
    proved_radius: float | None


class Classified(Certified):
    """The label of a picture with the interval of every label."""

    intervals: dict[str, Ends] | None
    conflict: float | None
    rules: list[ReasonReply]


class Several(Reply):
    """One report for each picture, in order."""

    pictures: list[Classified]


class Attacked(Reply):
    """The nearest input with another label that was found; null where none was."""

    label: str | int | float | bool | None
    distance: float | None
    image: list[int] | None


class Tells(Reply):
    """A classifier: its labels and the shape of its inputs."""

    name: str
    kind: str
    labels: list[str | int | float | bool]
    pictures: bool
    shape: list[int] | None
    inputs: int


class Error(Reply):
    """What is wrong, in which field of the request, at which character of it (from 1)."""

    error: str
    field: str | None
    at: int | None
