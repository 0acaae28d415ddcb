from nbr.points.cell_grid import Cells as Cells
from nbr.points.cell_grid import world_cells as world_cells
from nbr.points.numbered import NumberedPoints as NumberedPoints
from nbr.points.numbered import numbered_points as numbered_points
