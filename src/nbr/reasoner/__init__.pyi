from nbr.reasoner.reasoner import Reasoner as Reasoner
