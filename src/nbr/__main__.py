"""`python -m nbr` is the same as `nbr`."""

from nbr.app.main import main

main()
