"""Constraints that contradict themselves or each other are errors that name the field."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture

IRIS = load_iris().data
NAN = np.nan


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("full", {"fixed": {"weights": [0.7, 0.7]}}, r'fixed\["weights"\].*sum to 1.4'),
        ("full", {"fixed": {"weights": [0.3, 0.3]}}, r'fixed\["weights"\].*sum to 0.6'),
        ("full", {"fixed": {"weights": [0.3]}}, r'fixed\["weights"\] must have shape \(2,\)'),
        ("full", {"fixed": {"weights": [1.3, NAN]}}, r'fixed\["weights"\] at \(0,\) is 1.3, outside'),
        ("full", {"fixed": {"means": [[1.0, 2.0]]}}, r'fixed\["means"\] must be numbers of shape \(2, 4\)'),
        ("full", {"fixed": {"mean": 1}}, "fixed has the unknown key 'mean'"),
        ("full", {"fixed": {"means": [["a"] * 4] * 2}}, r'fixed\["means"\] must be numbers'),
        ("full", {"bounds": {"means": (2.0, 1.0)}}, r'bounds\["means"\]: the lower bound 2 is above the upper bound 1'),
        ("full", {"bounds": {"means": 2.0}}, r'bounds\["means"\] must be a pair'),
        ("full", {"bounds": {"means": (NAN, 2.0)}}, r'bounds\["means"\] must not hold NaN'),
        ("full", {"bounds": {"weights": (0.6, None)}}, r'bounds\["weights"\] sum to 1.2'),
        ("full", {"bounds": {"weights": (None, 0.4)}}, r'bounds\["weights"\] sum to 0.8'),
        ("full", {"bounds": {"variances": (np.ones((2, 4)), None)}}, r'bounds\["variances"\] must be numbers of shape'),
        (
            "full",
            {"fixed": {"means": np.full((2, 4), 5.0)}, "bounds": {"means": (0, 4)}},
            r'fixed\["means"\] at \(0, 0\) is 5, outside its bounds 0 to 4',
        ),
        ("full", {"fixed": {"covariances": -np.ones((2, 4, 4))}}, r"component 0 must be symmetric and positive"),
        (
            "full",
            {"fixed": {"covariances": np.where(np.eye(4), 1.0, NAN) * np.ones((2, 1, 1))}},
            "component 0 must be given whole",
        ),
        ("diag", {"fixed": {"covariances": np.zeros((2, 4))}}, r'fixed\["covariances"\] at \(0, 0\) is 0'),
        (
            "full",
            {"fixed": {"covariances": np.tile(np.eye(4), (2, 1, 1))}, "bounds": {"variances": (2, 3)}},
            r'from 1 to 1, outside bounds\["variances"\]',
        ),
        ("full", {"tied": {"means": [[0, 2]]}}, r'tied\["means"\] must list groups of component numbers from 0 to 1'),
        ("full", {"tied": {"means": [[0, 1], [1]]}}, r'tied\["means"\] names a component twice'),
        ("tied", {"tied": {"covariances": [[0, 1]]}}, "all of them are one already"),
        (
            "full",
            {"tied": {"means": [[0, 1]]}, "fixed": {"means": [[1.0] * 4, [2.0] * 4]}},
            r'tied\["means"\]: components \[0, 1\] have no value in common',
        ),
        (
            "spherical",
            {"tied": {"covariances": [[0, 1]]}, "fixed": {"covariances": [1.0, 2.0]}},
            r'tied\["covariances"\]: fixed\["covariances"\] differ',
        ),
        ("full", {"method": "gradient", "fixed": {"weights": [0.5, 0.5]}}, 'method="gradient" takes no fixed'),
        ("full", {"bounds": [1, 2]}, "bounds"),
    ],
)
def test_contradictions_are_named(kind, options, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2, covariance_type=kind, random_state=0, **options).fit(IRIS)
