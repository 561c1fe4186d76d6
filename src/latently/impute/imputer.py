"""Missing values filled by a mixture: means and modes, intervals, draws."""

from dataclasses import KW_ONLY
from inspect import signature
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, validate_data

from latently.data.schema.infer import infer_schema
from latently.data.schema.schema import Schema
from latently.data.sources.table_source import TableSource
from latently.data.tables.matrix import as_table
from latently.impute.choose import KEPT_ROWS, gaussian_for, mixed_for, some_rows
from latently.impute.output import filled_in, in_kind
from latently.impute.sequences import lengths_for
from latently.impute.stored import refitted
from latently.impute.tables import Table, check_observed, for_model, read_table, takes_tables
from latently.learn.engine.protocol import Array
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin
from latently.learn.select.select import Criterion

_VERBS = ("impute_mean", "impute_interval", "impute_draws")


@stores_parameters
class Imputer(OutOfCoreMixin, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill missing values with what a mixture expects there, given the rest of the row.

    Numbers become their conditional mean, categories the most probable one. Observed entries stay as they
    are. A frame comes out as a frame of the same kind, with its column types where they can hold the values.
    A category that was not seen in `fit` is kept, and carries no information about the other columns.

    Parameters
    ----------
    model
        A latently mixture, or a model of sequences such as `GaussianHMM`. One that is fitted is used as it is,
        without a call of `fit`; one that is not is cloned and fitted. None for a mixture of the imputer's own
        choice: for numbers a `GaussianMixture` with a shrinkage prior, for mixed tables a `Mixture` with a full
        covariance of the numeric columns.
    schema
        What the columns are; that of the model, or found out from the table, if None.
    max_components
        For a model of the imputer's choice: most components to try.
    criterion
        For a model of the imputer's choice: how to compare sizes, see `latently.learn.select`.
    random_state
        For a model of the imputer's choice: seed.

    Attributes
    ----------
    model_
        The fitted mixture.
    schema_
        What the columns are.
    n_features_in_, feature_names_in_
        Number of columns, and their names if they came with names.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=300)
    >>> X = np.column_stack([x, 2 * x + 10 + 0.1 * rng.normal(size=300)])
    >>> X[0] = [1, np.nan]
    >>> imputer = Imputer(random_state=0).fit(X)
    >>> imputer.transform(X)[0].round(1)
    array([ 1., 12.])
    >>> low, high = imputer.interval(X, level=0.9)
    >>> bool(low[0, 1] < 12 < high[0, 1])
    True
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "string": True}

    model: Any = None
    _: KW_ONLY
    schema: Schema | None = None
    max_components: int = 5
    criterion: Criterion = "bic"
    random_state: Any = None

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn what the table is like.

        Parameters
        ----------
        X
            (n, d) table with missing values: NaN, None or null.
        y
            Ignored; with a model of sequences, another place for `lengths`.
        lengths
            With a model of sequences: length of each one, None if the table is a single one.
        """
        self._check_settings()
        sequences = lengths_for(self.model, lengths, y)
        rows, schema, is_all = X, self._known_schema(), True
        if isinstance(X, TableSource):
            schema = infer_schema(X.digest()) if schema is None else schema
            rows, is_all = X.some_rows()
        table = self._table(rows, schema, reset=True)
        self.schema_ = table.schema
        check_observed(table)
        self.model_ = self._fitted_model(table, sequences)
        self._rows = self._kept_rows(table)
        if not is_all and self.model_ is not self.model:
            self.model_ = refitted(self.model_, X)
        return self

    def _kept_rows(self, table: Table) -> Array | None:
        """(m, d) rows that parameters are drawn from; None if the model is taken as known."""
        if self.model_ is self.model or "rows" not in signature(self.model_.impute_draws).parameters:
            return None
        return some_rows(table.values, KEPT_ROWS, np.random.default_rng(0)).copy()

    def _fitted_to(self, table: Table) -> dict[str, Any]:
        """The rows that the model was fitted to, for its intervals and draws, in the form of the table at hand."""
        rows = getattr(self, "_rows", None)
        return {} if rows is None else {"rows": for_model(self.model_, table, rows)}

    def _check_settings(self) -> None:
        if self.model is not None:
            absent = [verb for verb in ("fit", *_VERBS) if not hasattr(self.model, verb)]
            if absent:
                raise TypeError(f"model must be a latently mixture, but {type(self.model).__name__} has no {absent[0]}")
        if self.max_components < 1:
            raise ValueError(f"max_components must be at least 1, got {self.max_components}")
        if self.criterion not in get_args(Criterion):
            raise ValueError(f"criterion must be one of {', '.join(get_args(Criterion))}, got {self.criterion!r}")

    def _known_schema(self) -> Schema | None:
        own = self.model if self.model is not None and takes_tables(self.model) else None
        return self.schema or getattr(own, "schema_", None) or getattr(own, "schema", None)

    def fit_transform(self, X: Any, y: Any = None, *, lengths: Any = None) -> Any:
        """Learn what the table is like, and fill its missing values; see `fit` for the parameters."""
        return self.fit(X, y, lengths=lengths).transform(X, **lengths_for(self.model, lengths, y))

    def _fitted_model(self, table: Table, sequences: dict[str, Any]) -> Any:
        if _is_fitted(self.model):
            return self.model
        if self.model is not None:
            model = clone(self.model)
            if takes_tables(model) and model.schema is None and self.schema is not None:
                model.set_params(schema=self.schema)
            return model.fit(for_model(model, table), **sequences)
        search = (self.max_components, self.criterion, self.random_state)
        if set(table.schema.kinds) <= {"numeric"}:
            return gaussian_for(table.values, *search)
        return mixed_for(table, *search)

    def transform(self, X: Any, lengths: Any = None) -> Any:
        """Fill the missing values: conditional means, and most probable categories; `lengths` as in `fit`."""
        table, model = self._read(X)
        filled = model.impute_mean(for_model(model, table), **lengths_for(model, lengths))
        return in_kind(self, filled_in(table, filled), table)

    def interval(self, X: Any, level: float = 0.9, *, lengths: Any = None) -> tuple[Any, Any]:
        """Lower and upper ends of an interval for each missing value; observed entries stand in both.

        Parameters
        ----------
        X
            (n, d) table.
        level
            Probability of the interval, between its equal tails. For a category both ends are the most
            probable one.
        lengths
            As in `fit`.
        """
        table, model = self._read(X)
        extra = lengths_for(model, lengths) | self._fitted_to(table)
        low, high = model.impute_interval(for_model(model, table), level, **extra)
        return filled_in(table, low), filled_in(table, high)

    def draws(self, X: Any, n_draws: int = 5, random_state: Any = None, *, lengths: Any = None) -> list[Any]:
        """Fill the missing values several times at random, each row jointly: multiple imputation.

        What is estimated from each of the tables spreads between them by as much as the missing values leave it
        open (Rubin's rules add this spread to that within a table): each table has parameters of its own, drawn from
        their posterior given the rows of `fit`. A model of sequences and one that was fitted elsewhere are taken as
        known.

        Parameters
        ----------
        X
            (n, d) table.
        n_draws
            How many tables.
        random_state
            Seed.
        lengths
            As in `fit`.
        """
        if n_draws < 1:
            raise ValueError(f"n_draws must be at least 1, got {n_draws}")
        table, model = self._read(X)
        extra = lengths_for(model, lengths) | self._fitted_to(table)
        drawn = model.impute_draws(for_model(model, table), n_draws, random_state, **extra)
        return [filled_in(table, values) for values in drawn]

    def _read(self, X: Any) -> tuple[Table, Any]:
        check_is_fitted(self)
        if not hasattr(self, "model_"):  # the mixture was fitted before it came here
            self._check_settings()
            return read_table(X, self._known_schema()), self.model
        return self._table(X, self.schema_, reset=False), self.model_

    def _table(self, X: Any, schema: Schema | None, *, reset: bool) -> Table:
        raw = as_table(X, "X")
        validate_data(self, X if hasattr(X, "shape") else raw, reset=reset, skip_check_array=True)
        return read_table(raw, schema)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_") or _is_fitted(self.model)


def _is_fitted(model: Any) -> bool:
    if model is None:
        return False
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True
