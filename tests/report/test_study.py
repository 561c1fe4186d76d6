"""The parts behind a report, against other programs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from latently.cluster import Mixture
from latently.report.study.curves import Curve, fit_curve
from latently.report.study.evidence import belief, beliefs, share_interval
from latently.report.study.groups import _told
from latently.report.study.pairs.aspects import classed, ranked
from latently.report.study.pairs.association import compare
from latently.report.study.pairs.information import Told
from latently.report.study.strange import _tails
from latently.report.study.valley import counted, valley
from latently.report.study.view import View, view_of

RNG = np.random.default_rng(0)


def with_missing(X, share=0.3):
    X = X.copy()
    X[RNG.random(X.shape) < share] = np.nan
    return X


def test_view_agrees_with_scipy_on_rows_with_holes():
    spread = np.array([[2.0, 0.6, 0.1], [0.6, 1.0, -0.3], [0.1, -0.3, 0.5]])
    means = np.array([[0.0, 0, 0], [1, 2, 3]])
    view = View(np.array([0.3, 0.7]), np.arange(3), means, np.stack([spread, 2 * spread]), {})
    X = with_missing(RNG.normal(size=(40, 3)))
    answer = view.ask(X)
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        parts = [
            np.log(w) + (stats.multivariate_normal(m[o], c[np.ix_(o, o)]).logpdf(row[o]) if o.any() else 0.0)
            for w, m, c in zip(view.weights, means, view.covariances, strict=True)
        ]
        assert answer.joint[i] == pytest.approx(parts)
        m = ~o
        expected = means[1][m] + 2 * spread[np.ix_(m, o)] @ np.linalg.solve(
            2 * spread[np.ix_(o, o)], row[o] - means[1][o]
        )
        assert answer.fills[i, 1, m] == pytest.approx(expected)


def test_view_says_what_the_mixture_says():
    X = np.column_stack([RNG.normal(size=(300, 3)), RNG.integers(0, 3, 300)])
    X[:150, :2] += 3
    X = with_missing(X, 0.2)
    mixture = Mixture(2, families={3: "categorical"}, random_state=0).fit(X)
    view = view_of(mixture, np.arange(3))
    assert view.ask(X).log_density == pytest.approx(mixture.score_samples(X))
    assert view.ask(X).shares == pytest.approx(mixture.predict_proba(X), abs=1e-9)
    assert view.filled(X) == pytest.approx(mixture.impute_mean(X), abs=1e-8)


def test_draws_of_holes_have_the_conditional_moments():
    spread = np.array([[1.0, 0.8], [0.8, 1.0]])
    view = View(np.ones(1), np.arange(2), np.zeros((1, 2)), spread[None], {})
    X = np.column_stack([np.full(20_000, 1.5), np.full(20_000, np.nan)])
    drawn = view.completed(X, np.random.default_rng(0))[:, 1]
    assert drawn.mean() == pytest.approx(1.2, abs=0.02)
    assert drawn.var() == pytest.approx(0.36, rel=0.05)


def test_pairs_agree_with_scipy():
    x, y = RNG.normal(size=(2, 300))
    a, b = ranked("a", x), ranked("b", y + 0.2 * x)
    table = compare(a, b).table
    chi, by_scipy = stats.chi2_contingency(table)[:2]
    scores = [stats.norm.ppf((stats.rankdata(v) - 0.5) / 300) for v in (x, y + 0.2 * x)]
    r = stats.pearsonr(*scores)
    found = compare(a, b)
    assert found.correlation == pytest.approx(r.statistic)
    assert found.p == pytest.approx(2 * min(by_scipy, r.pvalue))
    assert chi > 0


def test_two_by_two_is_exact():
    a, b = np.r_[np.zeros(20), np.ones(20)], np.r_[np.zeros(17), np.ones(3), np.zeros(8), np.ones(12)]
    found = compare(classed("a", a, ("n", "y"), ordered=False), classed("b", b, ("n", "y"), ordered=False))
    assert found.p == pytest.approx(stats.fisher_exact([[17, 3], [8, 12]]).pvalue)


def test_independent_pairs_give_even_p_values():
    rng = np.random.default_rng(0)
    p = [compare(ranked("a", rng.normal(size=100)), ranked("b", rng.exponential(size=100))).p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) < 0.085
    assert np.mean(np.array(p) < 0.01) < 0.03


def test_a_valley_needs_two_peaks():
    rng = np.random.default_rng(0)
    two = np.r_[rng.normal(size=300), 5 + rng.normal(size=300)]
    order = rng.permutation(600)
    assert valley(counted(two[order[:300]], two[order[300:]])) < 1e-6
    draws = (rng.normal, rng.exponential, rng.uniform, rng.standard_cauchy, rng.lognormal)
    for draw in draws:
        p = [valley(counted(draw(size=200), draw(size=200))) for _ in range(60)]
        assert np.mean(np.array(p) < 0.05) <= 0.12, draw


@given(st.lists(st.floats(-1e6, 1e6), min_size=12, max_size=60, unique=True))
@settings(max_examples=60, deadline=None)
def test_curves_rise_and_come_back(values):
    x = np.sort(np.array(values))
    curve = fit_curve(x)
    z = curve.apply(x)
    assert np.isfinite(z).all()
    assert (np.diff(z) >= -1e-9).all()
    inside = slice(None) if curve.kind != "sqrt" else x * curve.sign >= curve.shift
    assert curve.undo(z)[inside] == pytest.approx(x[inside], rel=1e-6, abs=1e-6 * max(np.ptp(x), 1e-9))


@pytest.mark.parametrize(
    ("draw", "kind"),
    [
        (lambda r: r.normal(size=2000), "none"),
        (lambda r: r.exponential(size=2000), "root"),
        (lambda r: -r.exponential(size=2000), "root"),
        (lambda r: r.lognormal(size=2000), "log"),
        (lambda r: r.standard_t(2, size=2000), "asinh"),
        (lambda r: r.poisson(3, size=2000).astype(float), "sqrt"),
    ],
)
def test_curves_make_columns_normal(draw, kind):
    x = draw(np.random.default_rng(0))
    curve = fit_curve(x, 1.0 if kind == "sqrt" else 0.0)
    assert curve.kind == kind
    assert abs(stats.skew(stats.trimboth(curve.apply(x), 0.01))) < 0.3
    assert np.std(stats.trimboth(curve.apply(x), 0.01)) == pytest.approx(0.93, abs=0.08)


def test_a_few_wild_values_do_not_bend_a_curve():
    x = np.r_[RNG.normal(size=500), 40.0, -60.0]
    assert fit_curve(x).kind == "none"
    assert Curve("none").apply(np.array([2.0])) == 2.0


def test_belief_is_the_bound_of_sellke_and_others():
    # their table 1: a p-value of 0.05 leaves chance at least 0.289, one of 0.001 at least 0.0184
    assert 1 - belief(0.05) == pytest.approx(0.289, abs=5e-4)
    assert 1 - belief(0.001) == pytest.approx(0.0184, abs=5e-5)
    p = np.array([0.5, 0.05, 1e-8])
    assert beliefs(np.log(p), 10) == pytest.approx([belief(v, 10) for v in p])


def test_share_interval_is_wilsons():
    ours = share_interval(0.2, 50)
    theirs = stats.binomtest(10, 50).proportion_ci(method="wilson")
    assert ours == pytest.approx([theirs.low, theirs.high], abs=1e-6)


def test_information_of_a_normal_pair_is_its_correlation():
    spread = np.array([[1.0, 0.7], [0.7, 1.0]])
    view = View(np.ones(1), np.arange(2), np.zeros((1, 2)), spread[None], {})
    assert Told(view, np.random.default_rng(0)).strength(0, 1) == pytest.approx(0.7, abs=0.03)


def test_information_of_codes_is_that_of_their_table():
    # two hidden classes that tell both columns: the joint table is [[0.41, 0.09], [0.09, 0.41]]
    tables = {0: np.array([[0.9, 0.1], [0.1, 0.9]]), 1: np.array([[0.9, 0.1], [0.1, 0.9]])}
    view = View(np.array([0.5, 0.5]), np.arange(0), np.zeros((2, 0)), np.zeros((2, 0, 0)), tables)
    nats = 0.82 * np.log(0.41 / 0.25) + 0.18 * np.log(0.09 / 0.25)
    assert Told(view, np.random.default_rng(0)).strength(0, 1) == pytest.approx(
        np.sqrt(1 - np.exp(-2 * nats)), abs=0.05
    )


def test_classes_without_order_agree_with_scipy():
    rng = np.random.default_rng(5)
    a = rng.integers(0, 3, 400)
    b = np.where(rng.random(400) < 0.2, a, rng.integers(0, 4, 400))
    found = compare(
        classed("a", a.astype(float), tuple("xyz"), ordered=False),
        classed("b", b.astype(float), tuple("stuv"), ordered=False),
    )
    theirs = stats.chi2_contingency(found.table, correction=False)
    assert theirs.dof == 6
    assert found.p == pytest.approx(theirs.pvalue)


def test_a_column_told_by_a_split_agrees_with_scipy():
    rng = np.random.default_rng(6)
    side = rng.random(300) < 0.4
    codes = np.where(side & (rng.random(300) < 0.2), 2, rng.integers(0, 4, 300)).astype(float)
    table = np.stack([np.bincount(codes[s].astype(int), minlength=4) for s in (side, ~side)])
    assert _told(codes, side, 4) == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_tails_of_few_rows_are_taken_with_caution():
    # the chance of a value five standard deviations out is overstated, the more the fewer rows there are
    exact = np.log(2) + stats.norm.logsf(5.0)
    over = []
    for rows in (100, 400, 3000):
        far = []
        for seed in range(30):
            x = np.abs(np.random.default_rng([seed, rows]).normal(size=rows))
            x[0] = 5.0
            far.append(_tails(x[:, None], 1.0)[0].log_beyond(x)[0] - exact)
        over.append(np.median(far))
        assert np.mean(np.array(far) > 0) >= 0.9, rows  # without caution, one in two would be below
    assert over[0] > over[1] > over[2] > 0


@pytest.mark.parametrize("rows", [200, 1000])
def test_shape_and_scale_of_a_normal_tail_are_lowered_by_their_errors(rows):
    # a normal tail has shape 1 and scale 1; 2 to 10 % of the rows tell both, with errors of about one over their root
    x = np.abs(np.random.default_rng(rows).normal(size=(40, rows, 1)))
    tails = [_tails(each, 1.0)[0] for each in x]
    error = 1 / np.sqrt(0.08 * rows)
    assert np.median([tail.shape for tail in tails]) == pytest.approx(np.exp(-2 * error), rel=0.12)
    assert min(tail.scale for tail in tails) >= 1 + 0.9 * error


def test_tails_of_rows_that_resemble_each_other_are_taken_with_more_caution():
    x = np.abs(np.random.default_rng(0).normal(size=(500, 1)))
    x[0] = 6.0
    plain, shared = (_tails(x, share)[0].log_beyond(x[:, 0])[0] for share in (1.0, 5.0))
    assert shared > plain + 1


def test_the_distance_of_a_chance_is_the_inverse_of_the_chance_of_a_distance():
    x = np.abs(np.random.default_rng(0).standard_t(6, size=(400, 1)))
    x[:3, 0] = [4.0, 6.0, 9.0]
    tail = _tails(x, 1.0)[0]
    assert [tail.distance(p) for p in tail.log_beyond(tail.x)[:3]] == pytest.approx([4.0, 6.0, 9.0], rel=1e-6)


def test_one_wild_value_does_not_bend_a_small_column():
    kinds = []
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=60)
        plain = fit_curve(x).kind
        x[5] = 20.0
        kinds.append((plain, fit_curve(x).kind))
    assert sum(kind == "none" for _, kind in kinds) >= 16
