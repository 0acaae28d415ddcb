"""Products of thousands of small factors, beyond the range of floating point."""

import math

import torch
from torch import Tensor


def scaled_product(factors: Tensor) -> tuple[Tensor, Tensor]:
    """Multiply factors in [0, 1] along dimension -2 into value * 2^exponent.

    A sum of logarithms would lose the gradient at a factor of zero; this keeps it exact.

    >>> value, exponent = scaled_product(torch.full((5000, 1), 0.5))
    >>> value, exponent
    (tensor([0.5000]), tensor([-4999.]))
    """
    exponent = factors.new_zeros(factors.shape[:-2] + factors.shape[-1:])
    lowest = math.log2(torch.finfo(factors.dtype).tiny)
    while True:
        factors = _block_products(factors, _longest_safe_block(factors.detach(), lowest))
        shift = torch.frexp(factors.detach()).exponent.to(factors.dtype).clamp(min=lowest)
        factors = factors * torch.exp2(-shift)
        exponent = exponent + shift.sum(-2)
        if factors.shape[-2] == 1:
            return factors.squeeze(-2), exponent


def _longest_safe_block(factors: Tensor, lowest: float) -> int:
    """How many factors can be multiplied before the product may underflow."""
    smallest = factors.amin() if factors.numel() else factors.new_ones(())
    if smallest <= 0:
        smallest = factors.masked_fill(factors <= 0, 1).amin()
    halvings = -math.log2(smallest.item())
    return max(1, int(-lowest / halvings)) if halvings > 0 else factors.shape[-2]


def _block_products(factors: Tensor, length: int) -> Tensor:
    """Multiply blocks of `length` factors; neighbours go to different blocks, which is quicker."""
    count, subsets = factors.shape[-2:]
    length = min(length, count)
    blocks = count // length
    whole, rest = factors[..., : length * blocks, :], factors[..., length * blocks :, :]
    products = whole.reshape(*factors.shape[:-2], length, blocks, subsets).prod(-3)
    return torch.cat((products, rest.prod(-2, keepdim=True)), -2) if rest.shape[-2] else products
