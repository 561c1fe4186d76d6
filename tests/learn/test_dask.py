"""Dask collections on Dask's own schedulers in this process: the same answers, bad input, lazy answers."""

import subprocess
import sys
import warnings
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from sklearn.base import clone
from toy import START, TwoCoins, tosses

from latently.cluster import BernoulliMixture, GaussianMixture, KMeans, Mixture
from latently.data import TablePrep, infer_schema
from latently.data.dask.source import dask_source
from latently.data.open import as_source
from latently.distributions import Exponential, Gamma, Gaussian
from latently.impute import Imputer
from latently.learn import em, reducing, select, threads
from latently.learn.dask.reduce import lazy_map
from latently.learn.engine.start import sample_rows
from latently.predict import BayesianLinearRegression, BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes
from latently.sequence import GaussianHMM, MarkovChain

# Fits are stopped early here, which they tell.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(900, 3)) + np.repeat([[0.0], [4.0], [-4.0]], 300, axis=0)
RNG.shuffle(X)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])


@pytest.fixture(params=["synchronous", "threads"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield request.param


@pytest.fixture
def in_turn():
    with dask.config.set(scheduler="synchronous"):
        yield


def coins(source, **options):
    with reducing(source) as reduce:
        return em(TwoCoins(), START, reduce, **({"tol": 1e-9, "max_iter": 500} | options))


def test_importing_latently_does_not_import_dask():
    code = "import sys, latently.learn, latently.cluster, latently.data.dask.source; print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# The same answer


@pytest.mark.parametrize("cut", [1000, 170, (3, 500, 497), 64])
def test_any_chunking_gives_the_same_parameters(scheduler, cut):
    rows = tosses(1000)
    fit = coins(dask_source(da.from_array(rows, chunks=(cut, 1))))
    whole = coins(as_source(rows))
    assert fit.trace == pytest.approx(whole.trace, rel=1e-12)
    assert fit.params.heads == pytest.approx(whole.params.heads, rel=1e-10, abs=0)
    assert fit.n_iter == whole.n_iter


def test_the_same_chunks_give_the_same_bits_as_threads(scheduler):
    rows = tosses(1000)
    by_threads = as_source(rows, chunk_rows=125)
    sizes = tuple(chunk.n_rows for chunk in by_threads)
    assert coins(dask_source(da.from_array(rows, chunks=(sizes, 1)))).trace == coins(by_threads).trace


def test_partitions_are_cut_into_pieces_and_lazy_ones_are_read_anew(in_turn):
    reads = []

    def read(block):
        reads.append(len(block))
        return block

    rows = da.from_array(tosses(1000), chunks=(400, 1)).map_blocks(read, dtype=float, meta=np.empty((0, 1)))
    source = dask_source(rows, chunk_rows=100, persist=False)
    assert [chunk.n_rows for chunk in source] == [100] * 10
    assert [chunk.start for chunk in source] == list(range(0, 1000, 100))
    reads.clear()
    lazy = coins(source, tol=0.0, max_iter=3)
    assert sorted(reads) == [200] * 3 + [400] * 6
    held = dask_source(rows, chunk_rows=100)
    reads.clear()
    assert coins(held, tol=0.0, max_iter=3).trace == lazy.trace
    assert reads == []


def test_weights_equal_repeats_wherever_they_are(in_turn):
    rows, times = tosses(200), np.random.default_rng(0).integers(0, 4, size=200)
    repeated = coins(as_source(np.repeat(rows, times, axis=0)))
    frame = dd.from_pandas(pd.DataFrame({"heads": rows[:, 0], "times": times}), npartitions=3)
    array = da.from_array(rows, chunks=(70, 1))
    for source in (
        dask_source(array, times),
        dask_source(array, da.from_array(times, chunks=70)),
        dask_source(frame, "times"),
        dask_source(frame[["heads"]], frame["times"]),
    ):
        fit = coins(source)
        assert source.column_names in (("x0",), ("heads",))
        assert source.totals() == (times.sum(), np.count_nonzero(times))
        assert fit.trace == pytest.approx(repeated.trace, rel=1e-12)
        assert fit.params.heads == pytest.approx(repeated.params.heads)


def test_memos_are_kept_for_one_user_and_never_needed(in_turn):
    source = dask_source(da.from_array(tosses(100), chunks=(50, 1)))

    def visits(chunk):
        chunk.memo["visits"] = chunk.memo.get("visits", 0) + 1
        return chunk.memo["visits"]

    with reducing(source) as reduce:
        assert (reduce(visits), reduce(visits)) == (2, 4)
        with reducing(source.fresh()) as other:
            assert other(visits) == 2
        assert reduce(visits) == 2


def far_apart(n, missing):
    rng = np.random.default_rng(0)
    rows = rng.exponential(size=(n, 3)) + 1e4 * rng.integers(0, 2, n)[:, None]
    rows[:, 2] = rng.exponential(np.where(rows[:, 0] > 5e3, 1e4, 1.0))
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows[~np.isnan(rows).all(axis=1)]


def default_priors(make, rows):
    """Numbers that the default prior is made of."""
    model = make.fit(rows)
    if isinstance(model, GaussianMixture):
        frame = model.statistics_.frame
        return [frame.within * frame.scale**2]
    # the mean that a prior is about says nothing: it has no weight
    priors = [vars(block.prior) for block in model.model_.blocks]
    return [np.concatenate([np.ravel(v) for name, v in prior.items() if name != "location"]) for prior in priors]


# more rows than the spread inside clusters is measured on, so that a sample of them is drawn
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("n", [300, 5000])
@pytest.mark.parametrize(
    "make",
    [
        GaussianMixture(2, random_state=0),
        GaussianMixture(2, covariance_type="spherical", random_state=0),
        Mixture(2, random_state=0),
        Mixture(2, families={(0, 1): Gaussian(), 2: Exponential()}, random_state=0),
    ],
    ids=["full", "spherical", "table", "families"],
)
def test_the_default_prior_is_that_of_the_table_in_memory(in_turn, make, n, missing):
    rows = far_apart(n, missing)
    here = default_priors(clone(make), rows)
    there = default_priors(clone(make), da.from_array(rows, chunks=(n // 7, 3)))
    for ours, theirs in zip(there, here, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-9)
    if isinstance(make, GaussianMixture) and make.covariance_type == "full":
        assert (np.sqrt(here[0][:2]) < 3).all()  # inside clusters, which lie 10,000 apart


def test_a_sample_is_the_same_for_any_chunking(in_turn):
    whole, weights = sample_rows(as_source(X), 100, np.random.RandomState(0))
    drawn, shares = sample_rows(dask_source(da.from_array(X, chunks=(130, 2))), 100, np.random.RandomState(0))
    assert np.array_equal(whole, drawn)
    assert np.array_equal(weights, shares)


MIXED = FRAME.assign(kind=np.array(["u", "v", "w"])[(X[:, 0] > 2) + 2 * (X[:, 0] < -2)])
HOLES = MIXED.assign(a=np.where(np.arange(900) % 7, X[:, 0], np.nan))
POSITIVE = pd.DataFrame((X > 0).astype(float), columns=["a", "b", "c"])
Y = (X[:, 0] > 2) + 2 * (X[:, 0] < -2)
SYMBOLS = pd.DataFrame({"who": np.repeat(np.arange(6), 150), "symbol": np.array(list("xyz"))[Y]})
ESTIMATORS = [
    (GaussianMixture(3, random_state=0), FRAME, {}, "means_"),
    (GaussianMixture(3, covariance_type="tied", random_state=0), FRAME, {}, "covariances_"),
    (GaussianMixture(3, covariance_type="diag", n_init=2, random_state=0), FRAME, {}, "means_"),
    (GaussianMixture(3, random_state=0), HOLES[["a", "b", "c"]], {}, "means_"),
    (KMeans(3, random_state=0), FRAME, {}, "cluster_centers_"),
    (KMeans(50, init="random", n_init=1, random_state=0), FRAME, {}, "cluster_centers_"),
    (Mixture(3, random_state=0), MIXED, {}, "weights_"),
    (BernoulliMixture(3, random_state=0), POSITIVE, {}, "weights_"),
    (GaussianNB(), FRAME, {"y": Y}, "theta_"),
    (BernoulliNB(), POSITIVE, {"y": Y}, "feature_log_prob_"),
    (MultinomialNB(), POSITIVE, {"y": Y}, "feature_log_prob_"),
    (CategoricalNB(), POSITIVE.astype(int), {"y": Y}, "class_log_prior_"),
    (NaiveBayes(), HOLES, {"y": Y}, "class_prior_"),
    (BayesianLinearRegression(), FRAME, {"y": X @ [1.0, 2.0, 3.0]}, "coef_"),
    (GaussianHMM(2, n_iter=5, tol=0.0, random_state=0), FRAME, {}, "means_"),
]


def learnt(model, data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(data, **more)


@pytest.mark.parametrize("case", ESTIMATORS, ids=lambda case: repr(case[0]))
def test_threads_and_dask_agree_for_every_estimator_of_the_engine(in_turn, case):
    model, table, more, attribute = case
    with threads(1):
        one = learnt(model, table, **more)
    with threads(2):
        two = learnt(model, table, **more)
    # a hidden Markov model without a column for sequences sees one, which cannot be cut
    parts = 1 if isinstance(model, GaussianHMM) else 4
    spread = {name: dd.from_pandas(pd.Series(value), npartitions=parts) for name, value in more.items()}
    there = learnt(model, dd.from_pandas(table, npartitions=parts), **spread)
    for other in (two, there):
        assert np.allclose(getattr(one, attribute), getattr(other, attribute), rtol=1e-10, atol=1e-10)
        if not isinstance(model, BayesianLinearRegression):  # which iterates on sums, to the last digit of them
            assert getattr(other, "n_iter_", None) == getattr(one, "n_iter_", None)


def counted(array, reads):
    """The same array, which tells when a block of it is made."""

    def read(block):
        reads.append(len(block))
        return block

    return array.map_blocks(read, dtype=array.dtype, meta=np.empty((0,) * array.ndim, array.dtype))


def test_one_pass_over_rows_and_labels_is_all_that_naive_bayes_needs(scheduler):
    reads = []
    rows, labels = counted(da.from_array(X, chunks=(250, 3)), reads), da.from_array(Y, chunks=250)
    model = GaussianNB().fit(rows, labels)
    assert sorted(reads) == [150, 250, 250, 250]
    assert np.allclose(model.var_, GaussianNB().fit(X, Y).var_, rtol=1e-12)


def test_a_second_pass_finds_the_parts_held(in_turn):
    reads = []
    source = dask_source(counted(da.from_array(X, chunks=(300, 3)), reads), target=da.from_array(Y, chunks=300))
    assert (reads, source.n_rows, len(source), source.starts) == ([], 900, 3, [0, 300, 600])
    with reducing(source) as reduce:
        sums = [reduce(lambda chunk: chunk.X.sum() + chunk.y.sum()) for _ in range(3)]
    assert reads == [300] * 6  # as they come, and then to be held
    assert sums == [pytest.approx(X.sum() + Y.sum())] * 3
    assert sums[0] == sums[1] == sums[2]


@pytest.mark.parametrize(
    "model",
    [GaussianNB(), BernoulliNB(), MultinomialNB(), CategoricalNB(), NaiveBayes({"x0": Gamma(), "x1": "categorical"})],
    ids=lambda model: type(model).__name__,
)
def test_classes_that_some_partitions_lack_are_found(in_turn, model):
    order = np.argsort(Y, kind="stable")
    rows, labels = (POSITIVE.to_numpy() + 1.0)[order], np.array(["b", "c", "a"])[Y[order]]
    rows[:, 0] += 0.5 * np.abs(X[order, 0]) * isinstance(model, GaussianNB | NaiveBayes)
    here = clone(model).fit(rows, labels)
    there = clone(model).fit(da.from_array(rows, chunks=(130, 3)), da.from_array(labels, chunks=130))
    assert there.classes_.tolist() == ["a", "b", "c"]
    assert np.allclose(there.class_count_, here.class_count_)
    assert np.allclose(there.predict_joint_log_proba(rows), here.predict_joint_log_proba(rows), rtol=1e-9)


def test_columns_are_prepared_and_filled_alike(in_turn):
    frame = dd.from_pandas(HOLES, npartitions=4)
    here, there = TablePrep().fit(HOLES), TablePrep().fit(frame)
    assert here.account() == there.account()
    prepared = here.transform(HOLES)
    pd.testing.assert_frame_equal(there.transform(frame).compute().astype(prepared.dtypes), prepared)
    filled, far = (Imputer(random_state=0).fit(data) for data in (HOLES, frame))
    pd.testing.assert_frame_equal(far.transform(frame).compute().astype(HOLES.dtypes), filled.transform(HOLES))


def test_chains_of_symbols_are_counted_where_they_are(in_turn):
    parts = [delayed(SYMBOLS.iloc[a:b]) for a, b in ((0, 300), (300, 450), (450, 900))]
    chain = MarkovChain().fit(dd.from_delayed(parts, meta=SYMBOLS[:0]), sequences_by="who")
    whole = MarkovChain().fit(SYMBOLS["symbol"], [150] * 6)
    assert chain.symbols_.tolist() == ["x", "y", "z"]
    assert np.allclose(chain.transmat_, whole.transmat_, rtol=1e-12)
    with pytest.raises(ValueError, match="one column of symbols and one that identifies the sequence"):
        MarkovChain().fit(dd.from_pandas(SYMBOLS, npartitions=2))


def test_models_without_missing_values_refuse_them_by_name(in_turn):
    frame = dd.from_pandas(HOLES[["a", "b"]], npartitions=3)
    with pytest.raises(ValueError, match=r"partition \d: column 'a' of X contains NaN"):
        BayesianLinearRegression().fit(frame, dd.from_pandas(pd.Series(Y), npartitions=3))
    rows = da.from_array(HOLES[["b", "a"]].to_numpy(), chunks=(300, 2))
    with pytest.raises(ValueError, match=r"partition \d: column 'x1' of X contains NaN"):
        BayesianLinearRegression().fit(rows, da.from_array(Y, chunks=300))


def test_arrays_have_no_names_and_frames_have(in_turn):
    assert not hasattr(KMeans(3, random_state=0).fit(da.from_array(X, chunks=(300, 3))), "feature_names_in_")
    named = KMeans(3, random_state=0).fit(dd.from_pandas(FRAME, npartitions=2))
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]


def test_categories_of_every_partition_are_known(in_turn):
    kinds = [pd.Categorical(["u", "v"]), pd.Categorical(["w", "u"])]
    parts = [pd.DataFrame({"a": [0.0, 1.0], "kind": kind}) for kind in kinds]
    frame = dd.from_delayed(list(map(delayed, parts)), meta=parts[0][:0], verify_meta=False)
    assert dask_source(frame).digest()["kind"].cat.categories.tolist() == ["u", "v", "w"]
    texts = dd.from_pandas(MIXED, npartitions=3)
    source = dask_source(texts)
    assert source.digest()["kind"].dropna().tolist() == MIXED["kind"].drop_duplicates().tolist()
    rows, is_all = source.some_rows(most_bytes=8 * 4 * 100)
    assert (len(rows), is_all) == (100, False)
    pd.testing.assert_frame_equal(source.some_rows()[0].astype(MIXED.dtypes), MIXED)
    with pytest.raises(ValueError, match=r"partition \d: column 'kind' of X holds strings.*pass a schema"):
        source.load()
    assert dask_source(texts, schema=infer_schema(MIXED)).n_rows == 900


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl"])
def test_selection_by_dask_finds_what_selection_in_memory_finds(in_turn, criterion):
    grid = (GaussianMixture(random_state=0), {"n_components": [2, 3, 4]})
    here, there = select(grid, X, criterion), select(grid, da.from_array(X, chunks=(250, 3)), criterion)
    assert here.best["n_components"] == there.best["n_components"] == 3
    for mine, theirs in zip(here.table, there.table, strict=True):
        assert theirs[criterion] == pytest.approx(mine[criterion], rel=1e-9)
    named = select(grid, dd.from_pandas(FRAME, npartitions=3), criterion)
    assert named.best[criterion] == pytest.approx(here.best[criterion], rel=1e-9)


def test_held_out_selection_says_that_it_needs_memory(in_turn):
    with pytest.raises(ValueError, match="'held-out' takes rows in memory"):
        select([GaussianMixture(2)], da.from_array(X, chunks=(250, 3)), "held-out")


# Lazy answers


def test_answers_are_lazy_and_those_of_the_model(in_turn):
    model = GaussianMixture(3, random_state=0).fit(FRAME)
    frame = dd.from_pandas(FRAME, npartitions=4)
    for verb in ("predict", "predict_proba", "score_samples"):
        answer, expected = getattr(model, verb)(frame), getattr(model, verb)(FRAME)
        assert isinstance(answer, da.Array)
        assert answer.ndim == expected.ndim
        assert np.array_equal(answer.compute(), expected)
    centres = KMeans(3, random_state=0).fit(X)
    array = da.from_array(X, chunks=(200, 2))
    assert centres.predict(array).chunks == ((200, 200, 200, 200, 100),)
    assert np.array_equal(centres.transform(array).compute(), centres.transform(X))


def test_a_lazy_map_keeps_frames_and_empty_partitions(in_turn):
    frame = dd.from_pandas(FRAME, npartitions=4)
    doubled = lazy_map(lambda part: part * 2, frame)
    assert list(doubled.columns) == ["a", "b", "c"]
    pd.testing.assert_frame_equal(doubled.compute(), FRAME * 2)
    few = frame[frame.a > FRAME.a.nlargest(2).iloc[1]]
    counted = lazy_map(lambda part: np.full((len(part), 2), len(part)), few, np.empty((0, 2), int))
    assert counted.compute().tolist() == [[1, 1]]
    with pytest.raises(TypeError, match="expected a Dask array or dataframe"):
        lazy_map(len, X)
    with pytest.raises(TypeError, match="give a Dask dataframe"):
        lazy_map(len, da.from_array(X), FRAME[:0])


# Sequences


def split_frame(ids, cuts):
    frame = pd.DataFrame({"who": ids, "x": np.arange(float(len(ids)))})
    edges = [0, *cuts, len(ids)]
    return dd.from_delayed([delayed(frame.iloc[a:b]) for a, b in pairwise(edges)], meta=frame[:0])


def test_sequences_by_a_column_are_whole(in_turn):
    source = dask_source(split_frame(list("aabbbcd"), [2, 5]), sequences_by="who", chunk_rows=3)
    assert [chunk.lengths.tolist() for chunk in source] == [[2], [3], [1, 1]]
    assert source.column_names == ("x",)


@pytest.mark.parametrize(
    ("ids", "cuts", "message"),
    [
        ("aabb", [1], "column 'who': 'a' at the start of partition 1 comes after 'a'.*set_index"),
        ("aabbaa", [2, 4], "column 'who': 'a' at the start of partition 2 comes after 'b'"),
        ("abacc", [3], "partition 0: column 'who': 'a' comes back at row 2: sort by it first"),
    ],
)
def test_torn_sequences_are_named(in_turn, ids, cuts, message):
    with pytest.raises(ValueError, match=message):
        dask_source(split_frame(list(ids), cuts), sequences_by="who")


def test_a_hidden_markov_model_of_sequences_on_dask(in_turn):
    ids = np.repeat(np.arange(6), 150)
    frame = FRAME.assign(who=ids)
    model = GaussianHMM(2, n_iter=5, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = clone(model).fit(X, lengths=[150] * 6)
        there = clone(model).fit(
            dd.from_delayed([delayed(frame.iloc[:450]), delayed(frame.iloc[450:])], meta=frame[:0]), sequences_by="who"
        )
    assert np.allclose(here.means_, there.means_, rtol=1e-10)


# Bad input


def test_a_partition_with_another_type_is_named(in_turn):
    good, bad = pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"a": [1.0], "b": ["x"]})
    frame = dd.from_delayed([delayed(good), delayed(bad)], meta=good, verify_meta=False)
    with pytest.raises(TypeError, match=r"partition 1: column 'b' holds .*collection says numbers.*astype"):
        dask_source(frame)
    lacking = dd.from_delayed([delayed(good), delayed(good[["a"]])], meta=good, verify_meta=False)
    with pytest.raises(ValueError, match="partition 1: column 'b' is missing here"):
        dask_source(lacking)


def test_integers_beside_floats_and_unknown_divisions_are_welcome(in_turn):
    parts = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [0.5, None]})]
    frame = dd.from_delayed(list(map(delayed, parts)), meta=pd.DataFrame({"a": [1.0]}), verify_meta=False)
    assert frame.divisions == (None, None, None)
    source = dask_source(frame)
    assert (source.n_rows, source.starts) == (4, [0, 2])
    assert np.isnan(np.concatenate([chunk.X for chunk in source])[3, 0])


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: da.ones((4, 2)), {"weights": [1, 2]}, r"sample_weight has shape \(2,\)"),
        (lambda: da.ones((4, 2), chunks=2), {"weights": da.ones(4, chunks=4)}, "1 partitions and X has 2"),
        (
            lambda: da.ones((4, 2), chunks=(2, 2)),
            {"weights": da.ones(4, chunks=(1, 3))},
            r"partition \d: sample_weight has",
        ),
        (lambda: da.ones((4, 2)), {"weights": da.zeros(4)}, "zero for every row"),
        (lambda: da.ones((4, 2)), {"weights": -da.ones(4)}, "negative or not finite"),
        (lambda: da.ones((4, 2)), {"target": [1, 2]}, r"y has shape \(2,\)"),
        (lambda: da.ones((4, 2)), {"columns": ["a"]}, "no columns by name, such as 'a'"),
        (lambda: da.ones((4, 2)), {"filters": [("a", ">", 1)]}, "filter the Dask collection itself"),
        (lambda: da.ones((0, 2)), {}, r"0 sample\(s\)"),
        (lambda: da.ones(4), {}, "2-D Dask array"),
        (lambda: da.full((4, 2), np.inf), {}, "partition 0: column 'x0', 'x1' of X contains inf"),
        (
            lambda: dd.from_pandas(FRAME, npartitions=2),
            {"columns": ["a", "z"]},
            "no column 'z'; the columns are a, b, c",
        ),
        (lambda: dd.from_pandas(FRAME, npartitions=2), {"sequences_by": "who"}, "no column 'who'"),
    ],
)
def test_bad_collections_are_errors_that_say_what_to_do(in_turn, make, options, message):
    with pytest.raises(ValueError, match=message):
        dask_source(make(), **options)


def test_only_tables_are_taken(in_turn):
    for thing in (delayed(1), X, dd.from_pandas(FRAME, npartitions=1)["a"]):
        with pytest.raises(TypeError, match="expected a Dask array or dataframe"):
            dask_source(thing)


def test_empty_partitions_are_left_out(in_turn):
    frame = dd.from_pandas(FRAME, npartitions=4)
    source = dask_source(frame.loc[700:])
    assert (len(source), source.n_rows) == (1, 200)


def test_targets_and_mapped_values_travel_with_the_rows(in_turn):
    frame = dd.from_pandas(FRAME, npartitions=3)
    for target in ("c", np.asarray(FRAME["c"]), frame["c"]):
        source = dask_source(frame, target=target, columns=["a", "b"]).mapped(np.negative)
        assert np.array_equal(np.concatenate([chunk.y for chunk in source]), FRAME["c"])
        assert np.array_equal(np.concatenate([chunk.X for chunk in source]), -X[:, :2])


def test_a_model_must_not_ask_for_sums_while_it_expects():
    import pickle

    with reducing(dask_source(da.ones((4, 1)))) as reduce, pytest.raises(RuntimeError, match="only its update"):
        pickle.loads(pickle.dumps(reduce))(len)
