"""The points of a world: cells that cover it, and numbers for the points of a finite one."""
