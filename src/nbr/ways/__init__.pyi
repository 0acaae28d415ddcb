from nbr.ways.limits import SHARES as SHARES
from nbr.ways.limits import Limits as Limits
from nbr.ways.scheduler import auto as auto
from nbr.ways.way import NEVER as NEVER
from nbr.ways.way import Attempt as Attempt
from nbr.ways.way import Cost as Cost
from nbr.ways.way import Unfit as Unfit
from nbr.ways.way import Way as Way
