"""Mixtures over tables of mixed types."""

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import validate_data

from latently.cluster.mixture.base import TableMixture
from latently.cluster.mixture.model import MixtureModel, MixtureParams
from latently.cluster.mixture.prior import block_priors, check_keys, weight_pseudo, with_block_priors, with_limits
from latently.cluster.mixture.table import asked_groups, check_values, encode, make_blocks, make_schema, positions
from latently.data import Schema
from latently.data.sources.chunks import ChunkSource
from latently.data.sources.table_source import TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import as_table, check_size
from latently.distributions import Distribution, Family, Parts
from latently.distributions.components.constraints import weight_limits
from latently.distributions.components.family import FamilyBlock
from latently.distributions.components.slab import Ints
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import stores_parameters


@stores_parameters
class Mixture(TableMixture):
    """Mixture over a table of numbers, counts and categories, with missing values.

    In a component, columns are independent of each other, but for groups of numeric columns that are given a
    full covariance. What is missing is left out of a row's density, at fit and after; so is a category that
    was never seen. A row with nothing observed has the weights as its responsibilities.

    Parameters
    ----------
    n_components
        Number of components.
    families
        What the columns are within a component, by name or position: ``{"age": Gaussian(), "job": Categorical(),
        "visits": Poisson()}``, by words ("gaussian", "counts", "categorical", "ordinal", "binary", or any name that
        `latently.distributions.family_named` knows, as "von_mises"), or one for all. A tuple of numeric columns with
        ``Gaussian()`` has a full covariance. Columns that are not named follow the
        schema: numbers are Gaussian, all else is categorical.
    components
        A list of distributions over whole rows instead, one per component: templates, or with parameters to
        start from.
    schema
        What the columns are (`latently.data.infer_schema`); found out from the table if None.
    prior
        None for a prior that keeps components from collapsing and probabilities from zero; a number to make it
        so many times as strong; "ml" (or 0) for maximum likelihood; or a dict from columns, groups or names
        of families to conjugate priors (`NormalInverseWishart`, `Dirichlet`, `Gamma`) or strengths. A strength
        of s is worth s rows with the shares and mean counts of all rows together (s events, if those are less), and
        s/100 rows with the variances, or the shortest waiting times, inside clusters.
    weight_prior
        Dirichlet concentration of the weights, at least 1; by default 1 + strength / n_components.
    fixed
        Parameters that stay: ``{0: {"age": Gaussian(30.0, 25.0)}}`` for component 0, or only some of them by name,
        ``{0: {"age": {"variance": 25.0}}}``. A Gaussian column has a mean and a variance, a group with a full
        covariance has a mean and a covariance, counts have a rate, categories have probabilities.
    fixed_weights
        Weights that stay; NaN for those that are learnt.
    bounds
        Pairs (low, high), None for no bound, that parameters stay between: ``{"age": {"mean": (20, 70)}, "visits":
        {"rate": (0.1, None)}, "weights": (0.05, None)}``, numbers for all components or one for each. Of a full
        covariance the variances along its main axes are meant.
    tied
        Groups of components that share a parameter, True for all of them: ``{"age": {"variance": True}, "job":
        {"probabilities": [[0, 1]]}, "weights": [[0, 1]]}``.
    tol
        Converged when the objective rises by less than this per row.
    max_iter
        Iterations at most; at zero the start is kept as it is.
    n_init
        Number of starts; the best result is kept.
    init_params
        "kmeans", "k-means++", "random_from_data" or "random" (responsibilities).
    weights_init, components_init
        Where to start instead: weights, and a distribution over the encoded columns for each component.
    method
        "em", or "gradient" (L-BFGS, for columns without a full covariance).
    random_state
        Seed of the starts.
    verbose
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    weights_
        (K,) weights, in falling order unless the user knows the components by place.
    components_
        Each component as a distribution over the encoded columns.
    distribution_
        The whole mixture as a distribution.
    schema_
        What the columns are.
    converged_, n_iter_, reason_, n_reseeds_
        How the best start ended, and how often a dead component was put to new use.
    lower_bound_, lower_bounds_
        Log-likelihood plus log prior, per row, at the end and at every iteration.
    parameters_, statistics_, model_
        The same as records: what was learnt, the sums it was made from, and under which prior.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"age": [21, 23, None, 64, 70, 68], "job": ["student", "student", "student", "none", "none", None]}
    ... )
    >>> mixture = Mixture(2, random_state=0).fit(table)
    >>> mixture.predict(table).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    >>> mixture.impute_mean(pd.DataFrame({"age": [22.0], "job": [None]}))
    array([[22.,  1.]])
    """

    _tags: ClassVar[dict[str, Any]] = {"categorical": True, "string": True}

    _: KW_ONLY
    families: Any = None
    components: Any = None
    schema: Schema | None = None
    fixed: Any = None
    fixed_weights: Any = None
    bounds: Any = None
    tied: Any = None
    components_init: Any = None

    def sample(self, n_samples: int = 1, random_state: Any = None, *, like: Any = None) -> tuple[Any, Ints]:
        """Draw rows and the components they come from, component by component.

        Parameters
        ----------
        n_samples
            How many rows.
        random_state
            A seed; that of the mixture if None.
        like
            A frame, such as the one fitted to: the rows come as a frame of the same kind.
        """
        rows, labels = self._draw(n_samples, random_state)
        return self.schema_.decode(rows, like=like), labels

    # reading

    @property
    def _k(self) -> int:
        return int(self.n_components) if self.components is None else len(self.components)

    def _encode(self, X: Any, *, reset: bool, learning: bool) -> Array:
        table = as_table(X, "X")
        shape = table.shape if hasattr(table, "shape") else (frames.row_count(table), len(frames.column_names(table)))
        check_size(shape)
        validate_data(self, X if hasattr(X, "shape") else table, reset=reset, skip_check_array=True)
        if reset:
            names = frames.column_names(table) if self.schema is None else self.schema.names
            groups = [] if self.components is not None else asked_groups(self.families, names)
            self.schema_ = make_schema(table, groups, names) if self.schema is None else self.schema
            blocks = make_blocks(self.schema_, groups) if self.components is None else self._whole_rows()
        else:
            blocks = self.model_.blocks
        rows = encode(self.schema_, table, unseen="error" if learning else "missing")
        check_values(rows, blocks)
        return rows

    def _encoded(self, X: ChunkSource, *, reset: bool) -> ChunkSource:
        if not isinstance(X, TableSource):
            raise TypeError(f"a Mixture reads frames, arrays and files, not a {type(X).__name__}")
        if reset:
            self._encode(X.digest(), reset=True, learning=True)
        blocks = self._blocks() if reset else self.model_.blocks

        def floats(table: Any) -> Array:
            rows = encode(self.schema_, table, unseen="error")
            check_values(rows, blocks)
            return rows

        return X.encoded(floats, self.schema_.names)

    def _blocks(self) -> tuple[Any, ...]:
        if self.components is not None:
            return self._whole_rows()
        return make_blocks(self.schema_, asked_groups(self.families, self.schema_.names))

    def _whole_rows(self) -> tuple[FamilyBlock, ...]:
        """One block of all columns, for components that are distributions of whole rows."""
        if self.families is not None:
            raise ValueError("give families (of columns) or components (of whole rows), not both")
        given = tuple(self.components)
        if not given or not all(isinstance(part, Family) for part in given):
            raise TypeError("components must be a list of distributions that learn from data")
        if self.n_components not in (1, len(given)):
            raise ValueError(f"{len(given)} components are given, but n_components is {self.n_components}")
        d, names = len(self.schema_), self.schema_.names
        widths = tuple(column.n_categories for column in self.schema_)
        odd = [part for part in given if part._width() not in (None, d)]
        if odd:
            raise ValueError(f"{odd[0]} has {odd[0]._width()} columns, but the table has {d}")
        return (FamilyBlock(tuple(range(d)), names, templates=given, widths=widths),)

    # the model

    def _check_alike(self, other: Any) -> None:
        super()._check_alike(other)
        for mine, theirs in zip(self.schema_, other.schema_, strict=True):
            if mine != theirs:
                raise ValueError(
                    f"{mine.where} is not the same in both mixtures ({mine.categories} and {theirs.categories}): "
                    "fit them with one schema"
                )

    def _where(self, key: Any) -> tuple[int, ...]:
        return positions(key, self.schema_.names, "prior, fixed, bounds or tied")

    def _raw_model(self) -> MixtureModel:
        blocks = with_limits(self._blocks(), self.fixed, self.bounds, self.tied, self._k, self._where)
        bounds, tied = ((said or {}).get("weights") for said in (self.bounds, self.tied))
        return MixtureModel(blocks, np.zeros(self._k), weight_limits(self.fixed_weights, bounds, tied, self._k))

    def _with_priors(self, model: MixtureModel, pooled: Parts) -> MixtureModel:
        check_keys(model.blocks, self.prior, self._where)
        priors = [block_priors(block, self.prior, self._where) for block in model.blocks]
        pseudo = weight_pseudo(self.weight_prior, self.prior, self._k)
        return replace(with_block_priors(model, pooled, priors), pseudo=pseudo)

    def _given_start(self, model: MixtureModel) -> MixtureParams | None:
        given: Any = self.components_init
        if given is None and self.components is not None and all(part.is_fitted for part in self.components):
            given = self.components
        if given is None:
            return None
        parts: list[Distribution] = list(given)
        if len(parts) != self._k:
            raise ValueError(f"components_init has {len(parts)} distributions for {self._k} components")
        weights = np.full(self._k, 1 / self._k) if self.weights_init is None else self._weights_given()
        return model.from_components(parts, model.kept_weights(weights))

    def _start_settings(self, params: MixtureParams, model: MixtureModel) -> dict[str, Any]:
        return {"weights_init": params.weights, "components_init": model.components(params)}

    @property
    def _keeps_order(self) -> bool:
        given = (self.components, self.components_init, self.weights_init, self.fixed, self.fixed_weights)
        return any(part is not None for part in (*given, self.bounds, self.tied))
