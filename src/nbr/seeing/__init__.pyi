from nbr.seeing import corner as corner
from nbr.seeing import readings as readings
from nbr.seeing.looking import evidence_of as evidence_of
from nbr.seeing.readings import Readings as Readings
