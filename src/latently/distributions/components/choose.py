"""Which components suit a family: columns that are described alike go side by side, where kernels take them so."""

from latently.distributions import Family, Gaussian, Poisson


def kind_of(family: Family, n_columns: int = 1) -> str:
    """What a block of a family's columns is: "codes", "counts", "numeric", "full" or, for any other, "family"."""
    if family.IS_CODED:
        return "codes"
    if isinstance(family, Poisson):
        return "counts"
    if isinstance(family, Gaussian) and (n_columns == 1 or family.kind != "spherical"):
        return "numeric" if n_columns == 1 or family.kind == "diag" else "full"
    return "family"


def is_by_column(family: Family) -> bool:
    """Whether a family, given for several columns, is one of each of them."""
    return kind_of(family, 2) in ("codes", "counts", "numeric")
