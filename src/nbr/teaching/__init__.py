"""Statements about pictures -> sensors that see what was stated."""

from nbr.teaching.teach import train

__all__ = ["train"]
