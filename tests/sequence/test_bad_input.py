import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from latently.distributions import Beta
from latently.sequence import GMMHMM, CategoricalHMM, GaussianHMM, HiddenMarkovModel, ImpossibleSequence, PoissonHMM

X = np.random.RandomState(0).standard_normal((20, 2))


@pytest.mark.parametrize(
    ("rows", "lengths", "message"),
    [
        (X, [10, 5], "lengths sum to 15 but there are 20 rows"),
        (X, [20, 0], "sequence 1 has length 0"),
        (np.empty((0, 2)), None, "0 sample"),
        (np.full((5, 2), np.nan), None, "every row of X is missing"),
        (np.where(np.arange(2) == 1, np.nan, X), None, "column 1 of X is missing in every row"),
        (np.where(X > 1, np.inf, X), None, "contains inf"),
        (X[:2], None, "n_components is 3, more states than the 2 rows"),
        ([X, X[:, :1]], None, "sequence 1 has 1 columns"),
    ],
)
def test_data_that_cannot_be(rows, lengths, message):
    with pytest.raises(ValueError, match=message):
        GaussianHMM(3).fit(rows, lengths)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"transmat": [[0.5, 0.6], [np.nan, np.nan]]}, "row 0 of transmat fixes"),
        ({"transmat": [[0.5, 0.4], [np.nan, np.nan]]}, "row 0 of transmat fixes"),
        ({"transmat": [[-0.5, np.nan], [np.nan, np.nan]]}, "row 0 of transmat fixes"),
        ({"transmat": [[0.5, 0.5]]}, "transmat must have shape"),
        ({"startprob": "even"}, "startprob must be 'stationary'"),
        ({"transmat_prior": 0.5}, "transmat_prior must be at least 1"),
        ({"covariance_type": "round"}, "covariance_type must be one of"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        GaussianHMM(2, **settings).fit(X)


def test_rows_of_a_matrix_that_do_not_sum_to_one():
    model = GaussianHMM(2, init_params="smc")
    model.transmat_ = [[0.5, 0.5], [0.7, 0.7]]
    with pytest.raises(ValueError, match="row 1 of transmat_ must sum to 1"):
        model.fit(X)


def test_no_parameters_yet():
    for model in (GaussianHMM(2), CategoricalHMM(2), PoissonHMM(2), GMMHMM(2), HiddenMarkovModel(2)):
        with pytest.raises(NotFittedError):
            model.predict(np.zeros((3, 1)))


def test_columns_that_differ_from_the_fit():
    model = GaussianHMM(2).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.score(X[:, :1])


@pytest.mark.parametrize("rows", [[[0.5], [1]], [[-1], [1]], [[0, 1], [1, 0]]])
def test_symbols_are_whole_numbers_in_one_column(rows):
    with pytest.raises(ValueError, match=r"coded as whole numbers|single column"):
        CategoricalHMM(2).fit(rows)


def test_counts_are_whole_numbers():
    with pytest.raises(ValueError, match=r"column 1 of X has 1\.5 in row 1"):
        PoissonHMM(1).fit([[1, 2], [3, 1.5]])


def test_labels_that_cannot_be():
    for labels in ([0] * 5, np.full(20, 2), np.full(20, 0.5)):
        with pytest.raises(ValueError, match="labels must be"):
            GaussianHMM(2).fit(X, labels=labels)


def test_a_forbidden_transition_in_labelled_data_names_the_step():
    labels = np.repeat([0, 1, 0], [5, 5, 10])
    with pytest.raises(ImpossibleSequence, match="sequence 0 .*step 10"):
        GaussianHMM(2, transmat=[[np.nan, np.nan], [0, 1]]).fit(X, labels=labels)


def test_an_emission_that_does_not_learn():
    with pytest.raises(TypeError, match="emission must be a distribution that learns"):
        HiddenMarkovModel(2, Beta(1.0, 1.0)).fit(X[:, :1])


def test_decoding_options():
    model = GaussianHMM(2).fit(X)
    with pytest.raises(ValueError, match="algorithm must be one of"):
        model.decode(X, algorithm="best")
    with pytest.raises(ValueError, match="n_best must be at least 1"):
        model.decode(X, n_best=0)
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        model.sample(0)


def test_constant_columns_and_repeated_rows_have_a_result():
    for rows in (np.zeros((10, 2)), np.full((10, 2), 7.0), np.tile([[1.0, 2.0], [3.0, 2.0]], (10, 1))):
        for kind in ("spherical", "diag", "full", "tied"):
            for prior in (0.0, 1e-2):
                model = GaussianHMM(2, kind, covars_prior=prior, min_covar=1e-6, random_state=0).fit(rows)
                assert np.isfinite(model.covars_).all()
                assert np.isfinite(model.means_).all()
                assert np.isfinite(model.transmat_).all()


SMALL = [
    lambda: GaussianHMM(2, random_state=0),
    lambda: GaussianHMM(2, covariance_type="full", random_state=0),
    lambda: GMMHMM(2, n_mix=2, random_state=0),
    lambda: HiddenMarkovModel(2, random_state=0),
]


@pytest.mark.parametrize("make", SMALL)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-160])
def test_scales_whose_squares_vanish_are_named(make, scale):
    rows = np.concatenate([X, X + 9.0]) * [1.0, scale]
    rows[5, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 'x1' varies by .* only, .* rescale it"):
        make().fit(rows)


def test_they_are_named_by_the_names_of_a_table():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(np.concatenate([X, X + 9.0]) * [1e-200, 1.0], columns=["charge", "mass"])
    with pytest.raises(ValueError, match="column 'charge' varies by"):
        GaussianHMM(2).fit(table)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_other_scales_give_the_same_states(scale):
    rows = np.concatenate([X, X + 9.0])
    here, there = (HiddenMarkovModel(2, random_state=0).fit(Y) for Y in (rows, rows * scale))
    np.testing.assert_allclose(there.predict_proba(rows * scale), here.predict_proba(rows), atol=1e-6)
