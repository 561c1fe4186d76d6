"""What the default fits of `benchmarks.neural_tables` are beside: something plain for each. Higher is better."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal, norm
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Array = NDArray[Any]


def principal_components(train: Array, test: Array) -> float:
    """Minus the mean squared error of two components of scaled columns, missing values at the mean."""
    mean, sd = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
    scaled, new = ((rows - mean) / np.where(sd > 0, sd, 1.0) for rows in (train, test))
    seen = ~np.isnan(new)
    pca = PCA(2).fit(np.nan_to_num(scaled))
    again = pca.inverse_transform(pca.transform(np.nan_to_num(new)))
    errors = np.where(seen, (again - np.nan_to_num(new)) ** 2, 0.0).sum(axis=1)
    return -float((errors / seen.sum(axis=1).clip(min=1)).mean())


def gaussian(train: Array, test: Array) -> Array:
    """Log densities (n,) of one Gaussian with full covariance."""
    covariance = np.cov(train.T) + np.diag(1e-6 * train.var(axis=0))
    logs: Array = multivariate_normal(train.mean(axis=0), covariance, allow_singular=True).logpdf(test)
    return logs


def marginals(model: Any, table: Any) -> float:
    """Minus the expected loss of a `PretextEncoder` that fills in means, and the frequencies of categories."""
    from latently.neural.pretext.columns import read_columns

    codes = read_columns(model, table, missing="mask", known=model.columns_)[1]
    seen = (~np.isnan(codes)).sum(axis=0)
    losses = [_entropy(codes[:, j]) if size else float(np.nanvar(codes[:, j]) > 0)
              for j, size in enumerate(model.columns_.sizes)]  # fmt: skip
    return -float(np.average(losses, weights=seen))


def _entropy(codes: Array) -> float:
    shares = np.unique(codes[~np.isnan(codes)], return_counts=True)[1] / (~np.isnan(codes)).sum()
    return -float((shares * np.log(shares)).sum())


def regression(X: Array, y: Array, new_X: Array, new_y: Array) -> float:
    """Mean log density of a linear regression with Gaussian errors."""
    line = LinearRegression().fit(X, y)
    spread = max(float((y - line.predict(X)).std()), 1e-6 * float(y.std()))
    return float(norm(line.predict(new_X), spread).logpdf(new_y).mean())


def log_probability(model: Any, X: Array, y: Array) -> float:
    """Mean log probability of the right class."""
    chosen = np.searchsorted(model.classes_, y)
    return float(np.log(model.predict_proba(X)[np.arange(len(y)), chosen].clip(min=1e-15)).mean())


def logistic(X: Array, y: Array, new_X: Array, new_y: Array) -> float:
    """Mean log probability of the right class by a logistic regression on scaled columns."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000)).fit(X, y)
    return log_probability(model, new_X, new_y)


def told_from_shuffled(score: Callable[[Array], Array], rows: Array) -> float:
    """How well scores tell rows from rows whose columns were shuffled one by one: area under the ROC curve."""
    rng = np.random.default_rng(0)
    shuffled = np.column_stack([rng.permutation(column) for column in rows.T])
    scores = np.concatenate([score(rows), score(shuffled)])
    return float(roc_auc_score(np.repeat([1, 0], len(rows)), np.nan_to_num(scores, neginf=-1e300)))
