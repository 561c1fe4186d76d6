"""The report's curve of interval coverage, for targets learnt from few rows."""

import numpy as np

from latently.report.prediction.features import Feature
from latently.report.prediction.models import judged
from latently.report.prediction.task import Task
from latently.report.sections.target import _coverage


def task(rng, learnt=10, held=200):
    x = rng.normal(size=learnt + held)
    y = 3 * x + rng.normal(size=len(x))
    rows = np.arange(len(x))
    return Task("y", (Feature("x", "", x),), y, rows[:learnt], rows[learnt:])


def coverage(task, name):
    model = next(each for each in judged(task) if name in each.name)
    return _coverage(task, model)


def test_coverage_on_few_rows_is_that_of_students_intervals():
    rng = np.random.default_rng(0)
    curves = [coverage(task(rng), "linear") for _ in range(200)]
    np.testing.assert_allclose(curves[0]["predicted"], np.arange(1, 10) / 10)
    observed = np.mean([curve["observed"] for curve in curves], axis=0)
    np.testing.assert_allclose(observed, curves[0]["predicted"], atol=0.05)


def test_intervals_of_a_forest_hold():
    curve = coverage(task(np.random.default_rng(0), 400, 400), "forest")
    np.testing.assert_allclose(curve["observed"], curve["predicted"], atol=0.08)
