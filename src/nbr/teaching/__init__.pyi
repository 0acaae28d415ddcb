from nbr.teaching.examples import Examples as Examples
from nbr.teaching.teach import agreement as agreement
from nbr.teaching.teach import train as train
