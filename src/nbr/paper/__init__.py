"""The paper's tables, computed again."""
