from nbr.restating.restated import WORDS_DO as WORDS_DO
from nbr.restating.restated import Restated as Restated
from nbr.restating.restated import restate as restate
