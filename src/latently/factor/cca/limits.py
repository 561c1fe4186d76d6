"""How many pairs of directions there can be, and which view is to blame."""

from collections.abc import Sequence

import numpy as np


def check_rows(weight: float, edges: Sequence[int], n_components: int) -> None:
    """An error if rows or columns are too few; `edges` are where the columns of the views begin and end."""
    if not weight > 1:
        raise ValueError(f"a correlation needs more than 1 sample, but there is n_samples = {weight:g}")
    bound = int(min(np.ceil(weight), *np.diff(edges)))
    if n_components > bound:
        raise ValueError(f"`n_components` upper bound is {bound}. Got {n_components} instead. Reduce `n_components`.")


def check_rank(ranks: Sequence[int], n_components: int) -> None:
    """An error that names a view which varies in fewer directions."""
    if min(ranks) < n_components:
        view = int(np.argmin(ranks))
        raise ValueError(
            f"n_components={n_components}, but {view_name(view, len(ranks))} varies in {ranks[view]} independent "
            "directions only (its columns are constant or collinear): ask for fewer components, or leave columns out"
        )


def view_name(view: int, m: int) -> str:
    """What errors call a view, counted from 0, of m."""
    return "X" if view == 0 else ("Y" if m == 2 else f"view {view}")
