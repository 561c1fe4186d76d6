"""The four drop-in classifiers against scikit-learn's, and where they go further."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp
from sklearn.datasets import load_digits, load_iris

from latently import predict
from latently.learn import threads

NAMES = ["GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB"]


def data(name, n=200, seed=0, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    if name == "GaussianNB":
        return rng.normal(size=(n, 4)) * [1, 3, 0.2, 10] + y[:, None], y
    return rng.poisson(1.0 + y[:, None], size=(n, 4)).astype(float), y


def fitted(name, X, y, **more):
    return getattr(predict, name)().fit(X, y, **more)


def parameters(model):
    names = ("class_count_", "class_prior_", "class_log_prior_", "theta_", "var_", "feature_log_prob_")
    found = [getattr(model, name) for name in names if hasattr(model, name)]
    return np.concatenate([np.ravel(a) for f in found for a in (f if isinstance(f, list) else [f])])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_fitted_attributes_and_answers_are_those_of_scikit_learn(name, weighted):
    X, y = data(name)
    w = np.random.default_rng(1).uniform(0.5, 2, size=len(y)) if weighted else None
    same = {"var_smoothing": 0.0} if name == "GaussianNB" else {}  # theirs is not per feature
    ours = getattr(predict, name)(**same).fit(X, y, sample_weight=w)
    theirs = getattr(peer, name)(**same).fit(X, y, sample_weight=w)
    public = [a for a in vars(theirs) if a.endswith("_") and a not in ("epsilon_", "n_features_in_")]
    for attribute in public:
        mine, other = getattr(ours, attribute), getattr(theirs, attribute)
        for a, b in zip(mine, other, strict=True) if isinstance(other, list) else [(mine, other)]:
            np.testing.assert_allclose(a, b, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_gaussian_score_samples_is_the_density_of_scipy():
    X, y = data("GaussianNB")
    model = fitted("GaussianNB", X, y)
    joint = [
        np.log(p) + stats.norm(m, np.sqrt(v)).logpdf(X).sum(axis=1)
        for p, m, v in zip(model.class_prior_, model.theta_, model.var_, strict=True)
    ]
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=0), rtol=1e-10)


def test_an_outlier_is_told_from_a_doubtful_row():
    X, y = np.array([[-1.0], [-3.0], [1.0], [3.0]]), [0, 0, 1, 1]
    model = predict.GaussianNB().fit(X, y)
    doubtful, outlier = model.predict_proba([[0.0], [60.0]])
    evidence = model.score_samples([[0.0], [60.0]])
    np.testing.assert_allclose(doubtful, [0.5, 0.5])
    assert outlier.max() > 0.999
    assert evidence[1] < evidence[0] - 100


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB"])
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_tables_give_the_numbers_of_dense_ones(name, container):
    X, y = data(name)
    dense, sparse = fitted(name, X, y), fitted(name, container(X), y)
    np.testing.assert_allclose(dense.feature_log_prob_, sparse.feature_log_prob_, rtol=1e-12)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(container(X)), rtol=1e-10)
    np.testing.assert_allclose(
        parameters(sparse.forget(container(X[:50]), y[:50])), parameters(fitted(name, X[50:], y[50:])), rtol=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15, deadline=None)
@given(cut=st.integers(20, 180), seed=st.integers(0, 5))
def test_learning_forgetting_and_merging_are_one_arithmetic(name, cut, seed):
    X, y = data(name, seed=seed)
    a, b = (X[:cut], y[:cut]), (X[cut:], y[cut:])
    classes = np.unique(y)
    whole = fitted(name, X, y)
    new = getattr(predict, name)
    in_two = new().partial_fit(*a, classes=classes).partial_fit(*b)
    merged = new().partial_fit(*a, classes=classes).merge(new().partial_fit(*b, classes=classes))
    for other in (in_two, merged):
        np.testing.assert_allclose(parameters(other), parameters(whole), rtol=1e-9, atol=1e-12)
    rest = new().partial_fit(*b, classes=classes)
    if name != "CategoricalNB":  # categories that were only in the forgotten rows stay known
        np.testing.assert_allclose(parameters(whole.forget(*a)), parameters(rest), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_forgetting_rows_that_were_never_learnt_is_refused(name):
    X, y = data(name)
    model = fitted(name, X, y)
    before = parameters(model).copy()
    with pytest.raises(ValueError, match="never learnt"):
        model.forget(np.vstack([X, X[:1]]), np.append(y, y[:1]))
    np.testing.assert_array_equal(parameters(model), before)
    np.testing.assert_array_equal(model.class_count_, np.bincount(y))


def test_forgetting_other_rows_of_a_class_shows_in_the_squares():
    model = predict.GaussianNB().fit([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="never learnt"):
        model.forget([[1000.0]], [0])


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_threads_changes_nothing(name):
    X, y = data(name, n=40_000)
    with threads(1):
        one = fitted(name, X, y)
        answer = one.predict_proba(X)
    with threads(3):
        three = fitted(name, X, y)
        np.testing.assert_array_equal(parameters(one), parameters(three))
        np.testing.assert_array_equal(answer, three.predict_proba(X))


@pytest.mark.parametrize("name", ["GaussianNB", "BernoulliNB", "CategoricalNB"])
def test_missing_entries_are_left_out(name):
    X, y = data(name)
    absent = X.copy()
    absent[::3, 1] = np.nan
    model = fitted(name, absent, y)
    left = np.arange(len(y)) % 3 != 0
    alone = fitted(name, X[left][:, [1]], y[left])  # the column with missing values, by itself
    if name == "GaussianNB":
        np.testing.assert_allclose(model.theta_[:, 1], alone.theta_[:, 0], rtol=1e-12)
    elif name == "BernoulliNB":
        np.testing.assert_allclose(model.feature_log_prob_[:, 1], alone.feature_log_prob_[:, 0], rtol=1e-12)
    else:
        width = alone.feature_log_prob_[0].shape[1]
        np.testing.assert_allclose(model.category_count_[1][:, :width], alone.category_count_[0], rtol=1e-12)
    without = fitted(name, X[:, [0, 2, 3]], y)
    asked = X.copy()
    asked[:, 1] = np.nan
    np.testing.assert_allclose(model.predict_proba(asked), without.predict_proba(X[:, [0, 2, 3]]), rtol=1e-9)


def test_smoothing_is_per_feature():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    calm = rng.normal(size=(4000, 2)) + 2 * y[:, None] * [1.0, 0.5]
    wild = calm * [1e-6, 1e3]
    ours = predict.GaussianNB().fit(wild, y).score(wild, y)
    assert ours == predict.GaussianNB().fit(calm, y).score(calm, y)
    assert ours == peer.GaussianNB().fit(calm, y).score(calm, y)
    assert ours > peer.GaussianNB().fit(wild, y).score(wild, y) + 0.1


def test_offsets_cost_no_digits():
    X, y = load_iris(return_X_y=True)
    near, far = predict.GaussianNB().fit(X, y), predict.GaussianNB().fit(X + 1e8, y)
    np.testing.assert_allclose(far.var_, near.var_, rtol=1e-5)


def test_a_column_constant_within_a_class_and_a_class_with_one_row():
    X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [2.0, 5.0], [9.0, 9.0]])
    y = [0, 0, 1, 1, 2]
    model = predict.GaussianNB().fit(X, y)
    assert (model.var_ > 0).all()
    assert np.isfinite(model.predict_proba(X)).all()
    np.testing.assert_array_equal(model.predict(X), y)
    constant = predict.GaussianNB().fit(np.column_stack([X, np.full(5, 0.1)]), y)
    np.testing.assert_allclose(constant.predict_proba(np.column_stack([X, np.full(5, 0.1)])), model.predict_proba(X))


def test_an_all_missing_column_says_nothing():
    X, y = load_iris(return_X_y=True)
    blank = np.column_stack([X, np.full(len(X), np.nan)])
    model, plain = predict.GaussianNB().fit(blank, y), predict.GaussianNB().fit(X, y)
    assert np.isfinite(model.theta_).all()
    assert np.isfinite(model.var_).all()
    filled = np.column_stack([X, np.full(len(X), 7.0)])
    np.testing.assert_allclose(model.predict_joint_log_proba(filled), plain.predict_joint_log_proba(X))


def test_an_unseen_category_has_the_priors_probability():
    model = predict.CategoricalNB().fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    seen, unseen = model.predict_joint_log_proba([[0, np.nan], [7, np.nan]])
    np.testing.assert_allclose(unseen, model.class_log_prior_ + np.log(0.5))
    assert seen[0] - seen[1] != pytest.approx(unseen[0] - unseen[1])


def test_a_missing_label_is_named():
    X = np.zeros((3, 1))
    for y in ([0.0, np.nan, 1.0], np.array(["a", None, "b"], dtype=object)):
        with pytest.raises(ValueError, match="label of row 1 is missing"):
            predict.GaussianNB().fit(X, y)


@pytest.mark.parametrize("name", ["CategoricalNB", "MultinomialNB"])
def test_negative_counts_are_named(name):
    with pytest.raises(ValueError, match=r"Negative values .* column x1"):
        getattr(predict, name)().fit([[0.0, 1.0], [1.0, -2.0]], [0, 1])


def test_codes_too_large_for_a_table_are_refused():
    with pytest.raises(ValueError, match="column x0 has codes"):
        predict.CategoricalNB().fit([[10**9], [0]], [0, 1])


@pytest.mark.parametrize("name", NAMES)
def test_models_that_do_not_fit_together_are_not_merged(name):
    X, y = data(name)
    model = fitted(name, X, y)
    with pytest.raises(ValueError, match="different classes"):
        model.merge(fitted(name, X[y < 2], y[y < 2]))
    with pytest.raises(ValueError, match="columns"):
        model.merge(fitted(name, X[:, :2], y))
    with pytest.raises(TypeError, match="cannot merge"):
        model.merge(predict.BayesianLinearRegression().fit(X, y))


@pytest.mark.parametrize("name", NAMES)
def test_a_model_learns_itself_again_from_its_samples(name):
    X, y = data(name, n=500)
    model = fitted(name, X, y)
    drawn, labels = model.sample(60_000, random_state=0)
    again = fitted(name, drawn, labels)
    shares = np.bincount(labels, minlength=3) / len(labels)
    np.testing.assert_allclose(shares, np.bincount(y) / len(y), atol=0.01)
    if name == "GaussianNB":
        np.testing.assert_allclose(again.theta_, model.theta_, atol=0.3)
        np.testing.assert_allclose(again.var_, model.var_, rtol=0.06)
    elif name != "CategoricalNB":
        np.testing.assert_allclose(np.exp(again.feature_log_prob_), np.exp(model.feature_log_prob_), atol=0.02)
    else:
        for a, b in zip(again.feature_log_prob_, model.feature_log_prob_, strict=True):
            np.testing.assert_allclose(np.exp(a), np.exp(b[:, : a.shape[1]]), atol=0.02)


def test_given_and_even_class_priors():
    X, y = load_digits(return_X_y=True)
    given = predict.GaussianNB(priors=np.full(10, 0.1)).fit(X, y)
    np.testing.assert_allclose(given.class_prior_, 0.1)
    even = predict.MultinomialNB(fit_prior=False).fit(X, y)
    np.testing.assert_allclose(np.exp(even.class_log_prior_), 0.1)
    with pytest.raises(ValueError, match="Number of priors"):
        predict.BernoulliNB(class_prior=[0.5, 0.5]).fit(X, y)


def test_decisions_by_reward():
    model = predict.GaussianNB().fit([[36.5], [37.0], [39.0], [39.5]], ["well", "well", "ill", "ill"])
    rewards = {"well": {"wait": 10, "treat": 7}, "ill": {"wait": 3, "treat": 5}}
    assert model.decide([[36.8], [39.2]], rewards).action.tolist() == ["wait", "treat"]


def test_rows_on_disk_or_in_chunks_are_read_chunk_by_chunk():
    from latently.data import as_source

    X, y = load_iris(return_X_y=True)
    whole, chunked = predict.GaussianNB().fit(X, y), predict.GaussianNB().fit(as_source(X, chunk_rows=7), y)
    np.testing.assert_allclose(chunked.theta_, whole.theta_, rtol=1e-12)
    np.testing.assert_allclose(chunked.predict_proba(as_source(X, chunk_rows=11)), whole.predict_proba(X))
    with pytest.raises(ValueError, match="targets|labels"):
        predict.GaussianNB().fit(as_source(X, chunk_rows=7), y[:20])


@pytest.mark.parametrize("size", [1e200, 1e-155])
def test_values_of_extreme_size_are_named(size):
    X = np.column_stack([np.arange(6.0), np.arange(6.0) * size])
    with pytest.raises(ValueError, match=r"column 'x1'( of X)? has values of extreme size"):
        predict.GaussianNB().fit(X, [0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"column 'x1'( of X)? has values of extreme size"):
        predict.NaiveBayes().fit(X, [0, 1, 0, 1, 0, 1])


def test_no_smoothing_makes_impossible_rows_dense_or_sparse():
    X, y = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]), [0, 1]
    asked = np.array([[1.0, 1.0, 1.0], [3.0, 0.0, 1.0]])
    for name in ("MultinomialNB", "BernoulliNB"):
        model = getattr(predict, name)(alpha=0.0).fit(X, y)
        for rows in (asked, sp.csr_array(asked)):
            np.testing.assert_allclose(model.predict_proba(rows), [[0.5, 0.5], [1.0, 0.0]])
            assert model.score_samples(rows)[0] == -np.inf
            np.testing.assert_allclose(model.predict_log_proba(rows)[0], np.log(0.5))


def test_choices_are_checked():
    X, y = data("BernoulliNB")
    with pytest.raises(ValueError, match="binarize must not be negative"):
        predict.BernoulliNB(binarize=-1.0).fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="var_smoothing"):
        predict.GaussianNB(var_smoothing=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        predict.MultinomialNB(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="min_categories"):
        predict.CategoricalNB(min_categories=1.5).fit(X, y)
    with pytest.raises(ValueError, match="non-negative"):
        predict.GaussianNB(priors=[-1.0, 1.0, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match="requires y"):
        predict.GaussianNB().fit(X, None)
    with pytest.raises(ValueError, match="no rows are left"):
        predict.GaussianNB().fit(X, y).forget(X, y)


def test_ones_and_zeros_need_no_threshold():
    X, y = data("BernoulliNB")
    ones = (X > 1).astype(float)
    for rows in (ones, sp.csr_array(ones)):
        plain = predict.BernoulliNB(binarize=None).fit(rows, y)
        np.testing.assert_allclose(plain.feature_log_prob_, predict.BernoulliNB().fit(ones, y).feature_log_prob_)


@pytest.mark.parametrize(
    "labels", [[-128, 127, -128, 127], [True, False, True, False], [0.0, 2.0, 0.0, 2.0], [2**62, 5, 2**62, 5]]
)
def test_labels_of_any_type_come_back(labels):
    for y in (np.array(labels), np.array(labels).astype(np.int8) if abs(labels[0]) == 128 else np.array(labels)):
        model = predict.GaussianNB().fit([[0.0], [9.0], [1.0], [8.0]], y)
        np.testing.assert_array_equal(model.predict([[0.5], [8.5]]), y[:2])
        assert model.classes_.dtype == y.dtype
