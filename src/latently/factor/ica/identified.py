"""Whether the data say which sources they are made of."""

import numpy as np

from latently.learn.engine.protocol import Array
from latently.learn.estimator.unconverged import warn_of_fit

# The second weakest of up to 20 Gaussian sources stays below it in 99 of 100 tables, though the largest was sought.
LIMIT = 3.5
# Of fewer rows not even a Laplace source can always be distinguished from a Gaussian one: a warning would say nothing.
FEWEST = 300


def warn_unidentified(strength: Array, n_rows: int, needs: str) -> None:
    """Warn of sources whose directions the data do not settle.

    Parameters
    ----------
    strength
        (k,) how far each source is from one that could be turned together with another of its kind, in standard
        errors. One such source is no harm.
    n_rows
        Number of rows.
    needs
        What the algorithm separates sources by.
    """
    weak = np.flatnonzero(strength < LIMIT)
    if len(weak) > 1 and n_rows >= FEWEST:
        warn_of_fit(
            f"the directions of {len(weak)} of {len(strength)} components are not identified: the algorithm needs "
            f"{needs}, of which these show no evidence; latently.factor.ica_uncertainty says which"
        )
