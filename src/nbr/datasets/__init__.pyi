from nbr.datasets.idx import read as read
from nbr.datasets.pictures import Pictures as Pictures
from nbr.datasets.pictures import cifar10 as cifar10
from nbr.datasets.pictures import fashion_mnist as fashion_mnist
from nbr.datasets.pictures import mnist as mnist
from nbr.datasets.sources import COLLECTIONS as COLLECTIONS
from nbr.datasets.sources import Collection as Collection
from nbr.datasets.sources import locate as locate
