"""A table made ready for models: skew, outliers, scale, missing values, ordinal codes; and an account."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latently.data.schema.column import Column, Plain
from latently.data.schema.infer import infer_schema
from latently.data.schema.schema import Schema
from latently.data.sources.table_source import TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import as_table, check_size
from latently.data.tables.values import is_missing, quote
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin
from latently.prepare.columns import Curve, NumericStep, Scale, Values, fit_curve, fit_scale, middle, mildest
from latently.prepare.rows import By, fit_judge
from latently.prepare.stored import refined, refuse_extremes
from latently.prepare.tables import account_of, assembled, by_column

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "skew": ("auto", "none", "log", "atan", "cdf"),
    "scale": ("standard", "robust", "range", "none"),
    "outliers": ("keep", "clip", "missing", "drop"),
    "outliers_by": ("distance", "density"),
    "missing": ("keep", "mean", "category", "fill"),
}


@stores_parameters
class TablePrep(OutOfCoreMixin, TransformerMixin, BaseEstimator):
    """Make the columns of a table ready for a model, and say what was done to each.

    Numeric columns are straightened if they are skewed, freed of outliers, and scaled. Ordinal columns
    become codes 0, 1, ... in their order. Categorical columns stay as they are. A frame comes out as a
    frame of the same kind.

    Parameters
    ----------
    skew
        "auto": the mildest of none, log, atan and cdf (the empirical distribution function) that brings the
        skewness to at most 1. Or one of them for all numeric columns, or a dict from columns to them
        ("auto" for the others).
    scale
        "standard" (mean 0, variance 1), "robust" (median 0, median absolute deviation of a standard normal),
        "range" (0 to 1) or "none".
    outliers
        "keep"; "clip" to the limits; mark as "missing"; or "drop" whole rows. Limits are `threshold` robust
        standard deviations to each side of the median, after straightening.
    outliers_by
        For "drop": robust "distance" from the middle of all numeric columns, or "density".
    threshold
        How many standard deviations make an outlier.
    contamination
        For "density": share of rows to drop.
    missing
        "keep" for models that take them; "mean" for numeric columns (the rest is kept); "category": a
        category of its own for categorical columns (the rest is kept); "fill": both. Or a dict from
        columns to these.
    missing_category
        What that category is called.
    ordinal
        Columns whose categories have an order, with the categories in that order.
    schema
        What the columns are; found out from the table if None.

    Attributes
    ----------
    schema_ : what the columns are
    steps_ : what is done to each numeric column, by name
    judge_ : tells rows to drop; None if none are dropped
    n_features_in_ : number of columns

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"income": [1.0, 10.0, 100.0, 1000.0, 1e6], "size": ["S", "L", None, "M", "S"]})
    >>> prep = TablePrep(ordinal={"size": ["S", "M", "L"]}).fit(table)
    >>> prep.account()[0]["skew"]
    'log'
    >>> prep.transform(table)["size"].tolist()
    [0.0, 2.0, nan, 1.0, 0.0]
    >>> prep.inverse_transform(prep.transform(table))["income"].round(6).tolist()
    [1.0, 10.0, 100.0, 1000.0, 1000000.0]
    """

    _: KW_ONLY
    skew: str | Mapping[str, str] = "auto"
    scale: Scale = "standard"
    outliers: Literal["keep", "clip", "missing", "drop"] = "keep"
    outliers_by: By = "distance"
    threshold: float = 5.0
    contamination: float = 0.01
    missing: str | Mapping[str, str] = "keep"
    missing_category: str = "missing"
    ordinal: Mapping[str, Sequence[Plain]] | None = None
    schema: Schema | None = None

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "string": True, "categorical": True}
    _row_verbs = ("transform", "inverse_transform")

    # learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find out what each column needs.

        Parameters
        ----------
        X
            Table of (rows, columns).
        y
            Not looked at.
        """
        self._check_choices()
        if isinstance(X, TableSource):
            return self._fit_stored(X)
        table = as_table(X, "X")
        check_size(table.shape)
        schema = infer_schema(table, ordinal=self.ordinal) if self.schema is None else self.schema
        return self._fit_table(table, schema)

    def _fit_stored(self, source: TableSource) -> Self:
        """Learn from as many rows as memory allows; if that is not all, count and scale by a pass through all."""
        schema = infer_schema(source.digest(), ordinal=self.ordinal) if self.schema is None else self.schema
        rows, is_all = source.some_rows()
        self._fit_table(rows, schema)
        if not is_all:
            self.steps_, self.account_ = refined(self, source.encoded(schema.encode, schema.names))
        return self

    def _fit_table(self, table: Any, schema: Schema) -> Self:
        skew, missing = (by_column(v, schema, d) for v, d in ((self.skew, "auto"), (self.missing, "keep")))
        values = schema.encode(table)
        refuse_extremes(values, schema)
        self.schema_, self.n_features_in_ = schema, len(schema)
        self.__dict__.pop("feature_names_in_", None)
        if frames.is_frame(table):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        numeric = [j for j, column in enumerate(schema) if column.kind == "numeric"]
        names = schema.names
        self.steps_ = {names[j]: self._step(values[:, j], skew[names[j]], missing[names[j]]) for j in numeric}
        self.missing_ = missing
        self.judge_ = self._judge(values, numeric)
        self.account_ = [
            account_of(column, values[:, j], self.steps_.get(column.name), missing[column.name], self.scale)
            for j, column in enumerate(schema)
        ]
        return self

    def _check_choices(self) -> None:
        for name, allowed in _CHOICES.items():
            given = getattr(self, name)
            for value in given.values() if isinstance(given, Mapping) else (given,):
                if value not in allowed:
                    raise ValueError(f"{name} must be one of {quote(allowed, 9)}, got {value!r}")
        if not self.threshold > 0 or not 0 <= self.contamination < 1:
            raise ValueError("threshold must be positive and contamination from 0 to below 1")

    def _step(self, x: Values, skew: str, missing: str) -> NumericStep:
        curve: Curve = mildest(x) if skew == "auto" else fit_curve(x, skew)  # type: ignore[arg-type]
        straight = curve.apply(x)
        centre, unit = middle(straight)
        limits = (centre - self.threshold * unit, centre + self.threshold * unit)
        rough = NumericStep(curve, limits, self.outliers, 0.0, 1.0, None)
        tame = rough.tamed(straight)
        centre, unit = fit_scale(tame, self.scale)
        seen = tame[~np.isnan(tame)]
        fill = float((seen.mean() - centre) / unit) if len(seen) else 0.0
        return NumericStep(curve, limits, self.outliers, centre, unit, fill if missing in ("mean", "fill") else None)

    def _judge(self, values: Values, numeric: list[int]) -> Any:
        if self.outliers != "drop" or not numeric:
            return None
        return fit_judge(self._straight(values), self.outliers_by, self.threshold, self.contamination)

    def _straight(self, values: Values) -> Values:
        """(n, numeric columns) values after the curves."""
        pairs = [(j, self.steps_[c.name]) for j, c in enumerate(self.schema_) if c.name in self.steps_]
        return np.stack([step.curve.apply(values[:, j]) for j, step in pairs], axis=1)

    # the account

    def account(self) -> list[dict[str, Any]]:
        """What is done to each column, as plain values; counts are of the table it was fitted to."""
        check_is_fitted(self)
        return [dict(record) for record in self.account_]

    # preparing

    def inliers(self, X: Any) -> NDArray[np.bool_]:
        """Which rows `transform` keeps, (n,): all of them, unless outliers are dropped."""
        check_is_fitted(self)
        values = self._encoded(X)
        if self.judge_ is None:
            return np.ones(len(values), dtype=bool)
        return np.asarray(self.judge_.inliers(self._straight(values)))

    def transform(self, X: Any) -> Any:
        """Prepare a table: an array for an array, a frame for a frame.

        With outliers="drop" there are fewer rows, numbered anew; `inliers(X)` says which are left.
        """
        check_is_fitted(self)
        table = as_table(X, "X")
        values = self._encoded(table)
        kept = self.inliers(table)
        columns = {c.name: self._prepared(c, values[kept, j], table, j, kept) for j, c in enumerate(self.schema_)}
        return assembled(columns, table, self.schema_)

    def _lazily(self, f: Callable[[Any], Any], X: Any) -> Any:
        return X.map_partitions(f)  # rows may be dropped, which a map from rows to as many answers rules out

    def _encoded(self, X: Any) -> Values:
        table = as_table(X, "X")
        if not frames.is_frame(table) and np.shape(table)[1] != self.n_features_in_:
            raise ValueError(
                f"X has {np.shape(table)[1]} features, but TablePrep is expecting {self.n_features_in_} "
                "features as input"
            )
        return self.schema_.encode(table)

    def _prepared(self, column: Column, x: Values, table: Any, j: int, kept: NDArray[np.bool_]) -> Any:
        if column.kind == "numeric":
            return self.steps_[column.name].apply(x)
        if column.kind == "ordinal":
            return x
        views = frames.views(table)
        view = views[column.name] if frames.is_frame(table) else list(views.values())[j]
        raw = [v for v, keep in zip(view.to_list(), kept, strict=True) if keep]
        other = self.missing_category if self.missing_[column.name] in ("category", "fill") else None
        return [other if is_missing(v) or v in column.missing else v for v in raw]

    def inverse_transform(self, X: Any) -> Any:
        """Give prepared rows as they were: curves and scales undone, codes as levels, filled categories as None.

        Rows that were dropped, values that were clipped or filled, and what lies beyond the range of a cdf
        cannot come back.
        """
        check_is_fitted(self)
        table = as_table(X, "X")
        views = frames.views(table)
        if not frames.is_frame(table):
            views = dict(zip(self.schema_.names, views.values(), strict=True))
        absent = [name for name in self.schema_.names if name not in views]
        if absent:
            raise ValueError(f"column {quote(absent)} is not in the table, which has {quote(views, 10)}")
        columns = {c.name: self._restored(c, views[c.name]) for c in self.schema_}
        return assembled(columns, table, self.schema_, raw=True)

    def _restored(self, column: Column, view: Any) -> Any:
        if column.kind == "numeric":
            return self.steps_[column.name].undo(np.asarray(view.to_floats(column.where), dtype=np.float64))
        values = view.to_list()
        if column.kind == "ordinal":
            return [None if is_missing(v) else column.categories[int(v)] for v in values]
        return [None if is_missing(v) or v == self.missing_category else v for v in values]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that come out: those that went in."""
        check_is_fitted(self)
        if input_features is not None and list(input_features) != list(self.schema_.names):
            if hasattr(self, "feature_names_in_"):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(input_features)}"
                )
            return np.asarray(input_features, dtype=object)
        return np.array(self.schema_.names, dtype=object)
