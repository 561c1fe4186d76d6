"""Naive Bayes for tables as they come: numbers, counts, categories, with and without an order, with missing values."""

from dataclasses import KW_ONLY, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from latently.data import Schema
from latently.data.sources.table_source import TableSource
from latently.data.tables import frames
from latently.data.tables.matrix import as_table, check_size
from latently.distributions.inputs import ColumnError
from latently.learn.estimator.classes import Classes, Codes
from latently.learn.estimator.parameters import stores_parameters
from latently.predict.bayes.blocks import CategoryColumns, CountColumns, check_counts
from latently.predict.bayes.classifier import Array, BayesClassifier, Counter
from latently.predict.bayes.columns import chosen_families, grown, kinds_of, make_blocks, make_schema, united
from latently.predict.labels import class_priors, log_shares
from latently.predict.rows import CHUNK_ROWS
from latently.predict.statistics import CategoryCounts, ClassStatistics, PartError, Side


@stores_parameters
class NaiveBayes(BayesClassifier):
    """Bayes classifier for tables of mixed types: within a class, columns are independent.

    Missing values are left out of the product, at fit and at predict. Categories that were never seen have
    the prior's probability under every class. Columns of a frame are found by name.

    Parameters
    ----------
    families
        What each column is within a class: "gaussian", "counts" (Poisson), "categorical", "ordinal",
        "binary" or a family of `latently.distributions`, by name ("von_mises") or as
        `Gamma()`; as a dict from columns (names or positions), or one for all. Columns that
        are not named follow the schema: numeric is "gaussian".
    schema
        What the columns are (`latently.data.infer_schema`); found out from the table if None.
    m
        Weight of the prior in the m-estimate (n_i + m p_i) / (n + m), in rows; "laplace" for one row for each
        category. Rates of counts are drawn to the overall rate with the same weight.
    p
        Prior probabilities of the categories: None for all alike, "marginal" for their shares in all classes
        together with one added to each count (k categories in n rows: (n_i + 1) / (n + k), and 1 / (n + k + 1) for a
        category that was never seen, so that none is impossible), or a dict from columns to probabilities (a list in
        the order of the categories, or a dict).
    priors
        Prior probabilities of the classes; learnt from the data if None.
    var_smoothing
        Share of each numeric column's squared unit that is added to its variance in every class.

    Attributes
    ----------
    classes_ : (K,) the classes
    class_count_ : (K,) weight of the rows of each class
    class_prior_ : (K,) prior probability of each class
    schema_ : what the columns are
    kinds_ : the kind of distribution of each column, by name
    blocks_ : groups of columns of one kind
    distributions_ : the fitted distributions of each group
    statistics_ : the sums that the model has learnt

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"sky": ["sun", "rain", None, "rain"], "degrees": [25.0, 12.0, 24.0, None]})
    >>> model = NaiveBayes(m="laplace").fit(table, ["play", "stay", "play", "stay"])
    >>> model.predict(pd.DataFrame({"degrees": [23.0, None], "sky": ["fog", "rain"]}))
    array(['play', 'stay'], ...)
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "categorical": True, "string": True}

    families: Any = None
    _: KW_ONLY
    schema: Schema | None = None
    m: float | str = 1.0
    p: Any = None
    priors: ArrayLike | None = None
    var_smoothing: float = 1e-9

    # reading

    def _read(self, X: Any, *, reset: bool) -> Any:
        if isinstance(X, TableSource):
            if reset:
                self._look(X.digest())
            return X.chunked_by(CHUNK_ROWS).encoded(self._values, self.schema_.names)
        rows = as_table(X, "X")
        check_size(rows.shape)
        if reset:
            self._look(rows)
        if not frames.is_frame(rows) and np.shape(rows)[1] != len(self.schema_):
            raise ValueError(
                f"X has {np.shape(rows)[1]} features, but NaiveBayes is expecting {len(self.schema_)} features as input"
            )
        return self._values(rows)

    def _values(self, rows: Any) -> Array:
        values = self.schema_.encode(rows, unseen="code")
        for block in self.blocks_:
            if isinstance(block, CountColumns):
                check_counts(values[:, list(block.columns)], block.names)
        return values

    def _look(self, X: Any) -> None:
        """Decide what each column is."""
        names = frames.column_names(as_table(X, "X"))
        chosen = chosen_families(self.families, names if self.schema is None else self.schema.names)
        schema = make_schema(X, chosen) if self.schema is None else self.schema
        kinds = kinds_of(schema, chosen)
        self._adopt(schema, kinds)
        self.n_features_in_ = len(schema)
        self.__dict__.pop("feature_names_in_", None)
        if frames.is_frame(X):
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _adopt(self, schema: Schema, kinds: dict[str, Any]) -> None:
        self.schema_, self.kinds_ = schema, kinds
        self.blocks_ = make_blocks(schema, kinds, self.m, self.p, self.var_smoothing)

    # learning

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from more rows; categories that are new join those known.

        Parameters
        ----------
        X
            Table of (rows, columns).
        y
            Class of each row.
        classes
            All classes that may ever come; needed on the first call only.
        sample_weight
            Weight of each row.
        """
        if not hasattr(self, "statistics_"):
            return super().partial_fit(X, y, classes, sample_weight)
        before = self.schema_
        self._adopt(grown(before, X.digest() if isinstance(X, TableSource) else X), self.kinds_)
        try:
            return super().partial_fit(X, y, classes, sample_weight)
        except Exception:
            self._adopt(before, self.kinds_)
            raise

    def merge(self, other: Self) -> Self:
        """Take in what another model has learnt, as if its rows had been learnt here.

        Parameters
        ----------
        other
            A fitted model with the same columns and classes; its categories may differ.
        """
        if not hasattr(other, "schema_") or not hasattr(self, "schema_"):
            return super().merge(other)
        union = united(self.schema_, other.schema_)
        before = self.schema_
        self._adopt(union, self.kinds_)
        try:
            return super().merge(_moved(other, union))
        except Exception:
            self._adopt(before, self.kinds_)
            raise

    def _counter(self, rows: Any) -> Counter:
        return self._count

    def _count(self, X: Array, codes: Codes, weights: Array, n_classes: int) -> Side:
        self._refuse_unseen(X)
        return Side(tuple(block.count(X, codes, weights, n_classes) for block in self.blocks_))

    def _refuse_unseen(self, X: Array) -> None:
        """Refuse a level that the schema does not have, and say which column has it."""
        for block in self.blocks_:
            if isinstance(block, CategoryColumns):
                for j, column in zip(block.columns, block.schema, strict=True):
                    if (X[:, j] >= column.n_categories).any():
                        raise ValueError(
                            f"{column.where} has values that are not among its categories {column.categories}"
                        )

    def _named(self, problem: ColumnError) -> ColumnError:
        if isinstance(problem, PartError):
            return problem.named(self.blocks_[problem.part].names[int(problem.column)])
        return super()._named(problem)

    def _parameters(self, stats: ClassStatistics, classes: Classes) -> dict[str, Any]:
        prior = class_priors(self.priors, stats.class_count)
        pairs = zip(self.blocks_, stats.features.parts, strict=True)
        return {"class_prior_": prior, "distributions_": tuple(block.fitted(part) for block, part in pairs)}

    # answers

    def _log_prior(self) -> Array:
        return log_shares(self.class_prior_)

    def _chunk_joint(self, X: Array) -> Array:
        out = np.tile(self._log_prior(), (len(X), 1))
        nothing = np.zeros(len(self.classes_))
        for block, fitted in zip(self.blocks_, self.distributions_, strict=True):
            out += fitted.joint(X[:, list(block.columns)], nothing)
        return out

    def sample(self, n_samples: int = 1, random_state: Any = None, *, like: Any = None) -> tuple[Any, Classes]:
        """Draw rows from the model: first a class, then every column by itself.

        Parameters
        ----------
        n_samples
            How many rows.
        random_state
            A seed or a generator.
        like
            A frame, such as the one fitted to: the rows come as a frame of the same kind.

        Returns
        -------
        tuple
            The rows, and the class that each was drawn from.
        """
        rows, labels = super().sample(n_samples, random_state)
        return self.schema_.decode(rows, like=like), labels

    def _draw(self, codes: Codes, rng: np.random.Generator) -> Array:
        out = np.empty((len(codes), len(self.schema_)))
        for block, fitted in zip(self.blocks_, self.distributions_, strict=True):
            out[:, list(block.columns)] = fitted.draw(codes, rng)
        return out


def _moved(model: NaiveBayes, schema: Schema) -> NaiveBayes:
    """Give a model that says the same with the categories of another schema."""
    stats = model.statistics_
    parts = []
    for block, part in zip(model.blocks_, stats.features.parts, strict=True):
        if isinstance(block, CategoryColumns):
            targets = [schema[column.name] for column in block.schema]
            pairs = zip(part.tables, block.schema, targets, strict=True)
            part = CategoryCounts(tuple(_placed(table, a.categories, b.categories) for table, a, b in pairs))
        parts.append(part)
    moved = type(model)(**model.get_params(deep=False))
    moved.__dict__.update(vars(model), statistics_=replace(stats, features=Side(tuple(parts))))
    return moved


def _placed(table: Array, old: tuple[Any, ...], new: tuple[Any, ...]) -> Array:
    out = np.zeros((len(new), table.shape[1]))
    out[[new.index(category) for category in old]] = table
    return out
