"""The report's curve of interval coverage, for targets learnt from few rows."""

from types import SimpleNamespace

import numpy as np

from latently.report.sections.target import Task, _numbers


def task(rng, learnt=10, held=200):
    x = rng.normal(size=learnt + held)
    y = 3 * x + rng.normal(size=len(x))
    column = SimpleNamespace(name="x", role="numeric", classes=())
    rows = np.arange(len(x))
    return Task("y", x[:, None], y, (column,), rows[:learnt], rows[learnt:], ())


def test_coverage_on_few_rows_is_that_of_students_intervals():
    rng = np.random.default_rng(0)
    study = SimpleNamespace(prepared=SimpleNamespace(rng=lambda _: np.random.default_rng(0)))
    curves = [_numbers(study, task(rng))["calibration"] for _ in range(400)]
    np.testing.assert_allclose(curves[0]["predicted"], np.arange(1, 10) / 10)
    observed = np.mean([curve["observed"] for curve in curves], axis=0)
    np.testing.assert_allclose(observed, curves[0]["predicted"], atol=0.045)
