"""Statements about pictures -> sensors that see what was stated."""

from nbr.teaching.teach import agreement, train

__all__ = ["agreement", "train"]
