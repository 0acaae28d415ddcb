from nbr.storage import checkpoints as checkpoints
from nbr.storage import container as container
from nbr.storage.atomic import write as write
from nbr.storage.atomic import writing as writing
from nbr.storage.locks import hold as hold
from nbr.storage.rewriting import rewritten_rules as rewritten_rules
from nbr.storage.toml_mistakes import Mistakes as Mistakes
from nbr.storage.toml_mistakes import all_mistakes as all_mistakes
