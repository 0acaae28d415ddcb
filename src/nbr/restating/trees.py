"""Decision lists and trees as statements, grown by scikit-learn; they also find where to cut a number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nbr.errors import NbrError, install
from nbr.language import And, Constant, Expression, Implies, Or
from nbr.restating.axes import Axis

Truth = NDArray[np.bool_]
LEAVES = (2, 3, 4, 6, 8, 12)
CUT_LEAVES = 12  # of the tree that finds cuts
FEWEST = 4  # points for which a number is worth a cut


def cuts(names: Sequence[str], kinds: Sequence[Any], columns: Tensor, truth: Truth) -> dict[str, tuple[float, ...]]:
    """The numbers at which a tree cuts each number, as short as the points around them allow."""
    if not any(kind.numeric for kind in kinds) or truth.all() or not truth.any():
        return {}
    values = columns.numpy()
    tree = _grown(values, truth, CUT_LEAVES)
    found: dict[str, set[float]] = {}
    for feature, threshold, column in _nodes(tree, 0, values):
        kind = kinds[feature]
        if kind.numeric:
            below, above = float(column[column <= threshold].max()), float(column[column > threshold].min())
            found.setdefault(names[feature], set()).add(above if kind.step else _short(below, above))
    return {name: tuple(sorted(some)) for name, some in found.items()}


def _nodes(tree: Any, node: int, values: NDArray[np.float64]) -> Iterator[tuple[int, float, NDArray[np.float64]]]:
    """The feature and the threshold of every node that cuts, and the values that come to it."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    if feature >= 0:
        yield feature, threshold, values[:, feature]
        left = values[:, feature] <= threshold
        yield from _nodes(tree, int(tree.children_left[node]), values[left])
        yield from _nodes(tree, int(tree.children_right[node]), values[~left])


def _short(below: float, above: float) -> float:
    """The number with the fewest digits above one number and not above another."""
    for digits in range(-6, 16):
        scale = 10.0**-digits
        middle = round((below + above) / 2 / scale) * scale
        near = float(f"{middle:.12g}")
        if below < near <= above:
            return near
    return above


def statements(axes: Sequence[Axis], places: NDArray[np.int64], truth: Truth) -> list[Expression]:
    """Trees of some sizes as statements; `places` has a column for each axis.

    The labels of a choice stand in the order of how often they are true, so that one cut parts them as well as
    any set of labels could.
    """
    if truth.all() or not truth.any():
        return []
    orders = []
    coded = np.empty(places.shape)
    for number, axis in enumerate(axes):
        column = places[:, number]
        count = np.bincount(column, minlength=axis.size)
        share = np.bincount(column, weights=truth, minlength=axis.size) / np.maximum(count, 1)
        keeps = axis.variable.numeric
        order = np.arange(axis.size) if keeps else np.argsort(share, kind="stable")
        orders.append(order)
        coded[:, number] = np.argsort(order)[column]
    found: list[Expression] = []
    for leaves in LEAVES:
        said = _read(_grown(coded, truth, leaves), 0, axes, orders)
        if said not in found:
            found.append(said)
    return found


def _grown(columns: NDArray[np.float64], truth: Truth, leaves: int) -> Any:
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ModuleNotFoundError:
        raise NbrError(f"a decision list needs scikit-learn: {install('classify')}") from None
    tree = DecisionTreeClassifier(
        max_leaf_nodes=leaves, min_samples_leaf=FEWEST if len(truth) > 1000 else 1, random_state=0
    )
    return tree.fit(columns, truth).tree_


def _read(tree: Any, node: int, axes: Sequence[Axis], orders: Sequence[NDArray[np.int64]]) -> Expression:
    """A node as a statement: v where its upper part holds, joined with what its two branches say."""
    if tree.feature[node] < 0:
        return Constant(bool(tree.value[node][0].argmax()))
    axis = int(tree.feature[node])
    upper = orders[axis][int(np.floor(tree.threshold[node])) + 1 :].tolist()
    v = axes[axis].among(upper)
    no, yes = (_read(tree, int(branch[node]), axes, orders) for branch in (tree.children_left, tree.children_right))
    return _either(v, axes[axis].among(set(range(axes[axis].size)) - set(upper)), yes, no)


def _either(v: Expression, other: Expression, yes: Expression, no: Expression) -> Expression:
    """`yes` where v holds and `no` elsewhere; `other` says that v does not hold."""
    match yes, no:
        case Constant(value=a), Constant(value=b):
            return yes if a == b else v if a else other
        case Constant(value=True), _:
            return Or((v, *(no.parts if isinstance(no, Or) else (no,))))
        case Constant(value=False), _:
            return And((other, *(no.parts if isinstance(no, And) else (no,))))
        case _, Constant(value=True):
            return Or((other, *(yes.parts if isinstance(yes, Or) else (yes,))))
        case _, Constant(value=False):
            return And((v, *(yes.parts if isinstance(yes, And) else (yes,))))
    return And((Implies(v, yes), Implies(other, no)))
