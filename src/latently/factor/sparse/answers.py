"""What a dictionary says about rows: their codes, and rows made of codes."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from latently.data.open import as_source
from latently.data.sources.chunks import Chunk
from latently.data.tables.matrix import FloatArray
from latently.factor.sparse.atoms import CodeSums, Problem
from latently.factor.sparse.codes import Algorithm, Coder
from latently.learn.engine.cores import threads
from latently.learn.engine.protocol import Array
from latently.learn.engine.reduce import mapping
from latently.learn.estimator.missing import refuse_missing
from latently.learn.estimator.table import read_rows
from latently.learn.estimator.unconverged import warn_of_fit


class SparseCodes:
    """Codes of rows by the atoms of a fitted estimator."""

    alpha: float
    eta: float | None
    transform_algorithm: Any
    transform_n_nonzero_coefs: int | None
    transform_alpha: float | None
    transform_max_iter: int
    split_sign: bool
    positive_code: bool
    positive_dict: bool
    fit_algorithm: str
    n_jobs: int | None
    components_: Array
    statistics_: CodeSums

    def transform(self, X: Any) -> FloatArray:
        """(rows, atoms) sparse codes of rows; twice as many columns with `split_sign`."""
        check_is_fitted(self)
        with refuse_missing(type(self).__name__):
            rows = read_rows(self, X, reset=False)
        return self._split(self._codes(rows, self._coder()))

    def inverse_transform(self, X: Any) -> Array:
        """(rows, columns) rows that codes stand for."""
        check_is_fitted(self)
        codes = check_array(X, dtype=[np.float64, np.float32])
        k = len(self.components_)
        wanted = 2 * k if self.split_sign else k
        if codes.shape[1] != wanted:
            raise ValueError(f"a code has one number for each atom. Expected {wanted}, got {codes.shape[1]}.")
        codes = codes[:, :k] - codes[:, k:] if self.split_sign else codes
        return np.asarray(codes @ self.components_)

    def _problem(self) -> Problem:
        return Problem(float(self.alpha), self.eta, self.positive_dict)

    def _fit_coder(self) -> Coder:
        algorithm: Algorithm = "lasso_lars" if self.fit_algorithm == "lars" else "lasso_cd"
        return Coder(algorithm, self._problem().code_alpha, 1, self.positive_code, self.transform_max_iter)

    def _codes(self, rows: FloatArray, coder: Coder) -> FloatArray:
        """Codes of rows, on all threads; a warning if some ran out of steps."""
        D = np.asarray(self.components_, dtype=np.float64)

        def coded(chunk: Chunk) -> tuple[Array, int]:
            return coder(np.asarray(chunk.X, dtype=np.float64), D)

        with self._jobs(), mapping(as_source(rows, chunk_rows=2048)) as over_chunks:
            parts = list(over_chunks(coded))
        missed = sum(part[1] for part in parts)
        if missed:
            warn_of_fit(f"the codes of {missed} rows did not converge in {coder.max_iter} steps: raise max_iter")
        return np.concatenate([part[0] for part in parts]).astype(rows.dtype, copy=False)

    def _coder(self) -> Coder:
        if self.positive_code and self.transform_algorithm in ("lars", "omp"):
            raise ValueError(f"Positive constraint not supported for '{self.transform_algorithm}' coding method.")
        d = self.components_.shape[1]
        asked = self.transform_n_nonzero_coefs
        most = int(min(max(d / 10, 1), len(self.components_))) if asked is None else int(asked)
        alpha = self.alpha if self.transform_alpha is None else self.transform_alpha
        alpha = alpha if self.eta is None else alpha / 2
        return Coder(self.transform_algorithm, float(alpha), most, self.positive_code, self.transform_max_iter)

    def _split(self, codes: FloatArray) -> FloatArray:
        return np.hstack([np.maximum(codes, 0), np.maximum(-codes, 0)]) if self.split_sign else codes

    def _jobs(self) -> AbstractContextManager[None]:
        return threads(self.n_jobs) if self.n_jobs is not None and self.n_jobs > 0 else nullcontext()
