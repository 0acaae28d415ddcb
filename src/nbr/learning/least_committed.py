"""Of models that explain rows equally well, the least committed: crisp rules, believed no more than they must be.

Likelihood sees only P_keep = 1 - b + b R. A rule whose grades are r_0 where it is violated and r_1 where it holds says
the same as a crisp one of belief b', with 1 - b' = (1 - b + b r_0) / (1 - b + b r_1), and claims more: nothing but this
tells them apart. Training leaves rules somewhere between, so those that say yes or no are made crisp at one stroke, and
a few more steps settle what the stroke moved. Where that loses likelihood, the bank stays as it was.
"""

from __future__ import annotations

import copy
from dataclasses import replace

import torch

from nbr.learning.bank import Bank
from nbr.learning.objectives import ListedObjective
from nbr.learning.training import BankTraining, FitSettings

CRISP = 5.0  # logit of the grade of a rule that holds; -5 where it is violated
APART = 1.0  # logits between yes and no, below which a rule says nothing clearly
SETTLING = 60  # steps
SLOWER = 0.4  # than the training before
BROKEN = 0.05  # nats a row that the stroke may cost
EQUAL = 0.001  # nats a row, and
SHARE = 0.01  # of what rules gain over the prior: what counts as equally likely


def least_committed(bank: Bank, objective: ListedObjective, settings: FitSettings) -> Bank:
    """The bank with crisp rules, if rows that it was trained on and rows to choose by are explained as well."""
    tried = copy.deepcopy(bank)
    before = objective.mean(bank, "train")
    if not _sharpen(tried, objective) or objective.mean(tried, "train") < before - BROKEN:
        return bank
    alone = copy.deepcopy(bank)
    torch.nn.init.constant_(alone.doubt, -torch.inf)
    slow = replace(settings, steps=SETTLING, rate=SLOWER * settings.rate, decay=0.0, pull=0.0, patience=SETTLING)
    BankTraining(tried, objective, slow).run()
    for part in objective.weights.keys() & {"train", "valid"}:
        was = objective.mean(bank, part)
        if objective.mean(tried, part) < was - max(EQUAL, SHARE * (was - objective.mean(alone, part))):
            return bank
    return tried


@torch.no_grad()
def _sharpen(bank: Bank, objective: ListedObjective) -> bool:
    """Make rules crisp that say yes or no, by their last layer, and set their beliefs; whether there were any."""
    found = False
    logits, beliefs = bank.logits(objective.encoded), bank.beliefs
    for group, part in enumerate(logits.unbind()):
        for output, values in enumerate(part.unbind(dim=1)):
            middle = values.aminmax().min.add(values.aminmax().max).div(2)
            if not bool((values > middle).any()):
                continue
            low, high = values[values <= middle].median(), values[values > middle].median()
            if high - low < APART:
                continue
            scale = 2 * CRISP / (high - low)
            bank.last[group, :, output] *= scale
            bank.last_bias[group, 0, output] = scale * (bank.last_bias[group, 0, output] - (high + low) / 2)
            at = group * bank.rules + output
            violated, held = (1 - beliefs[at] * (1 - torch.sigmoid(value)) for value in (low, high))
            bank.doubt[at] = torch.logit(1 - violated / held, eps=1e-4)
            found = True
    return found
