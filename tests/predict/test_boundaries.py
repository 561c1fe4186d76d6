"""The boundaries of Gaussian naive Bayes are the conics that the algebra says."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "predict_boundaries.py"))


@pytest.mark.parametrize("case", EXAMPLE["CASES"])
def test_each_case_has_the_boundary_it_is_named_after(case):
    assert EXAMPLE["shape"](EXAMPLE["model_of"](*EXAMPLE["CASES"][case])) == case.split(":")[0]


@pytest.mark.parametrize("case", EXAMPLE["CASES"])
def test_the_log_odds_are_that_quadratic(case):
    # second differences of the log odds along each column are constant: twice the coefficient of its square
    model = EXAMPLE["model_of"](*EXAMPLE["CASES"][case])
    for j in range(2):
        line = np.zeros((5, 2))
        line[:, j] = np.arange(5.0)
        joint = model.predict_joint_log_proba(line)
        odds = joint[:, 0] - joint[:, 1]
        np.testing.assert_allclose(np.diff(odds, 2), 2 * EXAMPLE["quadratic"](model)[j], atol=1e-9)


def test_the_ellipse_is_closed_about_the_mean():
    model = EXAMPLE["model_of"](*EXAMPLE["CASES"]["ellipse: both variances differ"])
    angles = np.linspace(0, 2 * np.pi, 60)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    assert (model.predict(0.5 * ring) == 0).all()
    assert (model.predict(6 * ring) == 1).all()
