"""Groups of alike pictures, found without labels: of pictures that are straightened, along a graph of nearest ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import affine_grid, avg_pool2d, grid_sample

NEAR = 10  # neighbours that a picture is tied to
DIRECTIONS = 40  # of pictures, in which they are compared; and of the graph, in which they are grouped
STEEP = 0.8  # at most, of the slant that is taken away: a picture of a bar has any


def groups(pictures: Tensor, count: int, seed: int) -> NDArray[Any]:
    """The number of the group of each picture (n, ..): at most `count`, alike within each (spectral clustering)."""
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.neighbors import kneighbors_graph

    flat = straightened(pictures).flatten(1).double().numpy()
    size = len(flat)
    count = min(count, size)
    if size <= 4 * DIRECTIONS:  # too few for a graph
        found: NDArray[Any] = KMeans(count, n_init=4, random_state=seed).fit_predict(flat)
        return found
    points = PCA(min(DIRECTIONS, *flat.shape), random_state=seed).fit_transform(flat)
    graph = kneighbors_graph(points, NEAR, mode="distance")
    reach = np.maximum(graph.data.reshape(size, NEAR).max(axis=1), 1e-12)
    graph.data = np.exp(-2 * graph.data**2 / (np.repeat(reach, NEAR) * reach[graph.indices]))
    graph = graph.maximum(graph.T)
    scale = diags(np.asarray(graph.sum(axis=1)).ravel() ** -0.5)
    _, vectors = eigsh(scale @ graph @ scale, k=DIRECTIONS, which="LA", v0=np.ones(size), tol=1e-4)
    rows = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    grouped: NDArray[Any] = KMeans(count, n_init=4, random_state=seed).fit_predict(rows)
    return grouped


def straightened(pictures: Tensor) -> Tensor:
    """Grey pictures (n, height, width) moved to their centre of mass, sheared upright and blurred by a pixel.

    Two moments decide it; other inputs stay as they are.
    """
    if pictures.dim() != 3 or min(pictures.shape[1:]) < NEAR:
        return pictures
    size, tall, wide = pictures.shape
    down, right = torch.meshgrid(torch.linspace(-1, 1, tall), torch.linspace(-1, 1, wide), indexing="ij")
    light = pictures - pictures.amin(dim=(1, 2), keepdim=True)
    mass = light.sum(dim=(1, 2)).clamp(min=1e-9)
    middle = [(light * place).sum(dim=(1, 2)) / mass for place in (down, right)]
    off = [place - each[:, None, None] for place, each in zip((down, right), middle, strict=True)]
    slant = (light * off[0] * off[1]).sum(dim=(1, 2)) / (light * off[0] ** 2).sum(dim=(1, 2)).clamp(min=1e-9)
    maps = torch.zeros(size, 2, 3)
    maps[:, 0, 0], maps[:, 1, 1], maps[:, 0, 1] = 1.0, 1.0, slant.clamp(-STEEP, STEEP)
    maps[:, 0, 2], maps[:, 1, 2] = middle[1], middle[0]
    grid = affine_grid(maps, [size, 1, tall, wide], align_corners=True)
    moved = grid_sample(light[:, None], grid, align_corners=True)
    return avg_pool2d(moved, 3, stride=1, padding=1)[:, 0]
