"""How long a way may take, and what share of the time each phase gets."""

from __future__ import annotations

from dataclasses import dataclass

from nbr import clock

SHARES = {  # of the time that is left for whatever it is a step of
    # what the scheduler gives a way
    "glance": 0.1,  # for a first try of a way that does not know what it will cost, where there are others
    "proof": 0.5,  # for ways that prove, before others estimate ...
    "proof alone": 0.8,  # ... and where those others came to nothing at first sight
    # a question
    "asked part": 0.7,  # for the part that a question is about, if there are others
    "comparisons": 0.3,  # for the regions that comparisons between numbers make
    "pairs": 0.5,  # for pairs of points, where a question is fuzzy
    "fewer points": 0.2,  # for finding points that cannot matter
    "all points": 0.5,  # for going through them, where they are few enough ...
    "some points": 0.3,  # ... and where they are not, for those in every region
    "climbing": 0.2,  # for points around the best ones
    "one observation": 0.3,  # for each that is still to come, when they are weighed
    "one utility": 0.4,  # for a question of a decision: most take next to nothing of it
    # counting, drawing, walking
    "few cores": 0.1,  # for all minimal sets of rules that allow no point
    "resolution": 0.3,  # for doing without variables at the price of more clauses
    "first count": 0.4,  # of the rest, for counting without that
    "hopeless count": 0.2,  # for a count that hardly finishes
    "drawn worlds": 0.9,  # the rest is for bounds that hold for certain
    "first worlds": 0.15,  # of that, for worlds to start from
    "walked proof": 0.3,  # for bounds that hold for certain, along a line of variables
    "walks": 0.7,  # of what is left: larger walks also take longer for each state
    # frequencies
    "known now": 0.3,  # for what is known before anything is collected
    "asked frequency": 0.6,  # for the value, before what stays open
    "rows behind": 0.1,  # for the rows that meet a condition
    "order of sums": 0.02,  # for an order of summing
    "orders to tune": 0.1,  # for those of all questions that beliefs are fitted to
    "split draws": 0.3,  # in which a question that is split must show that enough draws count
    "weighed draws": 0.6,  # after which chains take over
    "settling": 0.3,  # of chains, before they are looked at
    "likeliest labels": 0.3,  # for the masses of labels, before quantiles
    "order of reasons": 0.5,  # for the order in which parts of a condition move a frequency
    "frequencies first": 0.5,  # of all values, if beliefs are to follow
    "first values": 0.1,  # that a value may always take
    "frequency beside": 0.3,  # beside an answer
    # the best point
    "best by tables": 0.4,
    "best by a solver": 0.8,  # before points are tried one after the other
    "best first": 0.5,  # for a point that is good by and large, to climb from
    # explaining and checking, in this order
    "frequency explained": 0.2,
    "moved": 0.1,  # for what moved that
    "answer explained": 0.3,
    "reasons": 0.3,
    "all reasons": 0.5,  # for all minimal sets, before only some are looked for
    "effects": 0.6,
    "one effect": 0.1,  # of that, at the least, for the answer without one rule
    "clash": 0.1,  # for whether a contradiction is one without the condition
    "witnesses": 0.3,
    "one of two": 0.5,
    "written checked": 0.4,  # of what an agent writes
    "agent's answer": 0.5,
    "agent's reasons": 0.4,
    "conflicts": 0.4,
    "nested": 0.3,  # for rules of one nested source that contradict each other
    "premises": 0.5,  # for premises that can never hold
}


@dataclass(frozen=True)
class Limits:
    """How long something may take, how narrow bounds should be, and where its randomness comes from."""

    deadline: float = float("inf")  # of nbr.clock
    tolerance: float = 1e-3
    seed: int = 0

    @classmethod
    def within(cls, seconds: float, tolerance: float = 1e-3, seed: int = 0) -> Limits:
        return cls(clock.now() + seconds, tolerance, seed)

    @property
    def left(self) -> float:
        return self.deadline - clock.now()

    def share(self, fraction: float) -> Limits:
        """The same limits with a part of the time that is left."""
        return Limits(clock.now() + fraction * max(self.left, 0.0), self.tolerance, self.seed)
