"""MarkovChain: sequences of symbols that are seen."""

from dataclasses import KW_ONLY
from functools import cache, partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from latently.data.dask.source import DaskSource
from latently.data.stored.source import StoredSource
from latently.data.tables.values import is_missing
from latently.learn.estimator.parameters import stores_parameters
from latently.learn.estimator.table import OutOfCoreMixin
from latently.sequence import expected_failures as expected
from latently.sequence.inference.chain import Array, Ints
from latently.sequence.markov import long_run
from latently.sequence.markov.counts import BEGIN, MISSING, Context, ContextCounts, count, probabilities
from latently.sequence.markov.missing import log_probability, next_symbol
from latently.sequence.markov.symbols import as_symbols, check_one_column, renamed, stored_symbols, unique_symbols
from latently.sequence.model.transitions import check_probabilities


@stores_parameters
class MarkovChain(OutOfCoreMixin, BaseEstimator):
    """Chain of symbols in which the next depends on the last few.

    Parameters
    ----------
    order
        How many symbols back the next one depends on; 0 for none.
    prior
        Added to every count.
    smoothing
        How contexts that were rarely seen are helped by shorter ones: "interpolation" (Witten and Bell's
        weights), "backoff" (an absolute discount), or None (a context that was never seen, without a prior,
        counts as its longest end that was).
    discount
        What "backoff" takes off each count, between 0 and 1.
    random_state
        Seed for `sample`.

    Attributes
    ----------
    symbols_
        The symbols, in order.
    counts_
        Counts after each context.
    startprob_, transmat_
        Probabilities of the first symbol, and for order 1 of the next one given the last.

    Examples
    --------
    >>> chain = MarkovChain().fit(list("aabbbaab"))
    >>> chain.symbols_
    array(['a', 'b'], dtype='<U1')
    >>> chain.transmat_
    array([[0.5  , 0.5  ],
           [0.333, 0.667]])
    >>> chain.stationary_distribution()
    array([0.4, 0.6])
    """

    _tags: ClassVar[dict[str, Any]] = {"allow_nan": True, "categorical": True, "string": True}

    order: int = 1
    _: KW_ONLY
    prior: float = 0.0
    smoothing: str | None = None
    discount: float = 0.5
    random_state: Any = None

    @classmethod
    def from_probabilities(cls, startprob: Any, transmat: Any, symbols: Any = None) -> Self:
        """Make a chain of order 1 with given probabilities.

        Examples
        --------
        >>> MarkovChain.from_probabilities([1, 0], [[0.5, 0.5], [0.1, 0.9]]).expected_durations()
        array([ 2., 10.])
        """
        V = len(np.atleast_1d(startprob))
        start = check_probabilities("startprob", startprob, (V,))
        A = check_probabilities("transmat", transmat, (V, V))
        table = {(i,): A[i] for i in range(V)} | {(BEGIN,): start, (): A.mean(axis=0)}
        chain = cls()
        chain.symbols_ = np.arange(V) if symbols is None else np.asarray(symbols)
        chain.counts_ = ContextCounts(V, table)
        return chain

    # learning

    def fit(self, X: Any, lengths: Any = None) -> Self:
        """Count.

        Parameters
        ----------
        X
            Symbols of one sequence, or of several below each other; or a list of sequences. Symbols are numbers or
            strings; NaN and None are missing, and windows with a missing symbol are not counted.
        lengths
            Length of each sequence in X; None if it is one, or a list of sequences.
        """
        self.__dict__.pop("counts_", None)
        return self.partial_fit(X, lengths)

    def partial_fit(self, X: Any, lengths: Any = None) -> Self:
        """Count further sequences; new symbols are welcome."""
        self._check_settings()
        if isinstance(X, DaskSource):
            return self._merge_all(X)
        if isinstance(X, StoredSource):
            for symbols, sizes in stored_symbols(X):
                self.partial_fit(symbols, sizes)
            return self
        found = self._counts(X, lengths, learn=True)
        self.counts_: ContextCounts = found if "counts_" not in self.__dict__ else self.counts_ + found
        return self

    def _merge_all(self, source: DaskSource) -> Self:
        """Count every partition where it is, and put the counts together."""
        for chain in source.over_tables(partial(_counted, self)):
            if chain is not None and "counts_" in self.__dict__:
                self.merge(chain)
            elif chain is not None:
                self.counts_, self.symbols_ = chain.counts_, chain.symbols_
        return self

    def forget(self, X: Any, lengths: Any = None) -> Self:
        """Take sequences out again, exactly."""
        self._fitted()
        self.counts_ = self.counts_ - self._counts(X, lengths, learn=False)
        return self

    def merge(self, other: "MarkovChain") -> Self:
        """Add what another chain of the same order has learnt."""
        if other.order != self.order:
            raise ValueError(f"a chain of order {other.order} does not merge into one of order {self.order}")
        theirs = other._fitted()
        mine = self._fitted()
        union = np.unique(np.concatenate([self.symbols_, other.symbols_]))
        self.counts_ = renamed(mine, self.symbols_, union) + renamed(theirs, other.symbols_, union)
        self.symbols_ = union
        return self

    def _check_settings(self) -> None:
        if self.order != int(self.order) or self.order < 0:
            raise ValueError(f"order must be a whole number from 0 on, got {self.order}")
        if self.smoothing not in (None, "interpolation", "backoff"):
            raise ValueError(f"smoothing must be 'interpolation', 'backoff' or None, not {self.smoothing!r}")
        if not self.prior >= 0 or not 0 <= self.discount <= 1:
            raise ValueError("prior must not be negative, and discount between 0 and 1")

    def _counts(self, X: Any, lengths: Any, learn: bool) -> ContextCounts:
        values, sizes = as_symbols(X, lengths)
        if learn:
            self._learn_symbols(values)
        codes = self._codes(values, strict=True)
        return count(codes, sizes, self.order, len(self.symbols_))

    def _learn_symbols(self, values: Any) -> None:
        seen = unique_symbols(values)
        if "counts_" in self.__dict__:
            old = self.symbols_
            union = np.unique(np.concatenate([old, seen]))
            self.counts_, self.symbols_ = renamed(self.counts_, old, union), union
        else:
            if not len(seen):
                raise ValueError("every symbol (column 0 of X) is missing: there is nothing to learn from")
            self.symbols_ = seen

    def _codes(self, values: Any, strict: bool) -> Ints:
        known = {v: i for i, v in enumerate(self.symbols_.tolist())}
        codes = np.array([MISSING if is_missing(v) else known.get(v, -9) for v in values.tolist()], dtype=np.int64)
        if (codes == -9).any():
            step = int(np.argmax(codes == -9))
            if strict:
                raise ValueError(f"symbol {values[step]!r} at position {step} is unknown to this chain")
            codes[codes == -9] = MISSING
        return codes

    def _fitted(self) -> ContextCounts:
        if "counts_" not in self.__dict__:
            raise NotFittedError("this MarkovChain has learnt nothing yet: call fit")
        return self.counts_

    # probabilities

    def _row(self, context: Context) -> Array:
        return probabilities(self._fitted(), context, self.smoothing, self.prior, self.discount)

    def predict_next(self, context: Any = ()) -> Array:
        """Distribution (V,) of the symbol after a sequence, in which missing symbols are summed over.

        After nothing, it is that of the first symbol.
        """
        self._fitted()
        codes = self._codes(np.array(list(context), dtype=object), strict=True)
        padded = [BEGIN] * self.order + codes.tolist()
        last = tuple(padded[len(padded) - self.order :])
        return next_symbol(codes, self.order, cache(self._row)) if MISSING in last else self._row(last)

    @property
    def startprob_(self) -> Array:
        """Probabilities (V,) of the first symbol."""
        return self._row((BEGIN,) * self.order)

    @property
    def transmat_(self) -> Array:
        """Probabilities (V, V) of the next symbol given the last, for order 1."""
        return long_run.matrix(self)

    def score_sequences(self, X: Any, lengths: Any = None) -> Array:
        """Log probability of each sequence; missing symbols are summed over, unknown ones count as missing."""
        self._fitted()
        values, sizes = as_symbols(X, lengths)
        codes = self._codes(values, strict=False)
        parts = np.split(codes, np.cumsum(sizes)[:-1])
        row = cache(self._row)
        return np.array([log_probability(part, self.order, row) for part in parts])

    def score(self, X: Any, lengths: Any = None) -> float:
        """Log probability of all sequences together."""
        return float(self._evidence(X, lengths)[0])

    def perplexity(self, X: Any, lengths: Any = None) -> float:
        """Two to the cross-entropy in bits per symbol: as hard to guess as that many equal choices."""
        log_prob, seen = self._evidence(X, lengths)
        return float(np.exp(-log_prob / max(seen, 1)))

    def _evidence(self, X: Any, lengths: Any) -> Array:
        """(2,) log probability of all sequences, and symbols that are neither missing nor unknown."""
        if isinstance(X, StoredSource):
            return np.asarray(np.sum([self._evidence(*part) for part in stored_symbols(X)], axis=0))
        seen = self._codes(as_symbols(X, lengths)[0], strict=False) != MISSING
        return np.array([self.score_sequences(X, lengths).sum(), seen.sum()])

    @property
    def n_parameters_(self) -> int:
        """Free probabilities of the contexts of full length that were seen."""
        rows = [row for context, row in self._fitted().table.items() if len(context) == self.order]
        return len(rows) * (len(self.symbols_) - 1)

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's criterion; lower is better."""
        return -2 * self.score(X, lengths) + 2 * self.n_parameters_

    def bic(self, X: Any, lengths: Any = None) -> float:
        """Bayesian information criterion; lower is better. Missing symbols do not count."""
        log_prob, seen = self._evidence(X, lengths)
        return float(-2 * log_prob + self.n_parameters_ * np.log(max(seen, 1)))

    def sample(self, n: int = 1, random_state: Any = None) -> Any:
        """Draw a sequence of n symbols."""
        rng = check_random_state(self.random_state if random_state is None else random_state)
        context, codes = (BEGIN,) * self.order, []
        for u in rng.uniform(size=n):
            row = np.cumsum(self._row(context))
            codes.append(int(min(np.searchsorted(row, u * row[-1], side="right"), len(row) - 1)))
            context = (*context, codes[-1])[1:] if self.order else ()
        return self.symbols_[codes]

    def _expected_failed_checks(self) -> dict[str, str]:
        return expected.CHAIN

    def _check_data(self, n_rows: int, rng: np.random.Generator) -> Array:
        """A column of symbols for `latently.checks`."""
        return rng.integers(0, 3, size=(n_rows, 1)).astype(np.float64)

    # the long run

    def stationary_distribution(self) -> Array:
        """Shares (V,) of the symbols in the long run."""
        return long_run.stationary_symbols(self)

    def expected_durations(self) -> Array:
        """Expected number of steps (V,) that the chain stays in a symbol once it is there; order 1."""
        return long_run.expected_durations(self.transmat_)

    def first_passage_times(self) -> Array:
        """Expected number of steps (V, V) from each symbol to the first visit of each (of return, in the diagonal)."""
        return long_run.first_passage_times(self.transmat_)


def _counted(chain: MarkovChain, table: Any, lengths: Ints | None) -> MarkovChain:
    """Fit a chain to one partition of a Dask collection."""
    check_one_column(list(table.columns) if hasattr(table, "columns") else [], lengths is not None)
    found: MarkovChain = clone(chain).fit(table.to_numpy().ravel(), lengths)
    return found
