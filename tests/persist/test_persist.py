"""save -> load gives back the very same thing."""

import os
import pickle
import stat
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from tests.checks.models import BallMixture, RunningMean

import latently
from latently import distributions
from latently.persist import encode, load, read_manifest, register, save
from latently.persist.decode import Decoder

X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [6.0, 6.0]], 30, axis=0)


def there_and_back(value):
    encoder = encode.Encoder()
    return Decoder(encoder.arrays).decode(encoder.encode(value, "value"), "value")


def same(a, b):
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, float | np.floating | np.complexfloating):
        return np.array(a).tobytes() == np.array(b).tobytes() or bool(np.isnan(a) and np.isnan(b))
    return bool(a == b)


keys = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
arrays = npst.arrays(
    dtype=npst.boolean_dtypes()
    | npst.integer_dtypes()
    | npst.floating_dtypes(sizes=(16, 32, 64))
    | npst.complex_number_dtypes(sizes=(64, 128))
    | npst.unicode_string_dtypes()
    | npst.datetime64_dtypes(),
    shape=npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
values = st.recursive(
    plain | arrays,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys, inner),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(values)
def test_every_plain_value_comes_back_with_its_type(value):
    assert same(value, there_and_back(value))


@pytest.mark.parametrize(
    "value",
    [
        np.float64(0.1),
        np.float32(0.1),
        np.int8(-3),
        np.bool_(1),
        np.str_("ab"),
        np.float64("nan"),
        np.complex128(1j),
    ],
)
def test_numpy_scalars_keep_their_type(value):
    assert same(value, there_and_back(value))


def test_memory_order_and_write_protection_are_kept():
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    locked = np.arange(3)
    locked.flags.writeable = False
    back = there_and_back([fortran, locked, fortran.T, np.arange(12.0).reshape(3, 4)[::2, ::2]])
    assert back[0].flags.f_contiguous
    assert not back[0].flags.c_contiguous
    assert np.array_equal(back[0], fortran)
    assert back[0].flags.writeable
    assert not back[1].flags.writeable
    assert np.array_equal(back[2], fortran.T)
    assert np.array_equal(back[3], [[0.0, 2.0], [8.0, 10.0]])


def test_an_array_that_is_shared_is_stored_once_and_shared_again():
    a = np.arange(4.0)
    encoder = encode.Encoder()
    tree = encoder.encode({"x": a, "y": a}, "v")
    back = Decoder(encoder.arrays).decode(tree, "v")
    assert len(encoder.arrays) == 1
    assert back["x"] is back["y"]


def test_a_record_that_is_shared_is_shared_again():
    shares = Shares(np.array([1.0, 2.0]))
    model = BallMixture(means_init=[shares, {"again": shares}])
    back = there_and_back(model)
    assert back.means_init[0] is back.means_init[1]["again"]
    assert np.array_equal(back.means_init[0].parts, shares.parts)


def test_object_arrays_of_strings():
    names = np.array([["a", "b\udc80"], [None, 3]], dtype=object)
    back = there_and_back(names)
    assert back.dtype == object
    assert back.tolist() == names.tolist()


def test_sets():
    assert there_and_back({1, 2}) == {1, 2}
    assert there_and_back(frozenset("ab")) == frozenset("ab")


@pytest.mark.parametrize(
    "rng", [np.random.RandomState(3), np.random.default_rng(3), np.random.Generator(np.random.SFC64(1))]
)
def test_random_streams_go_on_where_they_were(rng):
    rng.normal(size=3)
    back = there_and_back(rng)
    assert type(back) is type(rng)
    assert np.array_equal(back.normal(size=5), rng.normal(size=5))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fitted_model_predicts_the_same_bits(tmp_path, dtype):
    model = BallMixture(random_state=0).fit(X.astype(dtype))
    latently.save(model, tmp_path / "m.latently")
    back = latently.load(tmp_path / "m.latently")
    assert type(back) is BallMixture
    assert back.get_params() == model.get_params()
    assert set(vars(back)) == set(vars(model))
    for verb in ("predict", "predict_proba", "score_samples"):
        assert getattr(back, verb)(X).tobytes() == getattr(model, verb)(X).tobytes()
    assert back.trace_ == model.trace_


def test_names_of_columns_come_back(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["width", "height"])
    save(BallMixture(random_state=0).fit(frame), tmp_path / "m")
    back = load(tmp_path / "m")
    assert back.feature_names_in_.tolist() == ["width", "height"]
    assert back.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        back.predict(frame.rename(columns={"width": "depth"}))


def test_learning_goes_on_after_loading(tmp_path):
    model = RunningMean().partial_fit(X[:30])
    save(model, tmp_path / "m")
    back = load(tmp_path / "m").partial_fit(X[30:])
    assert np.array_equal(back.mean_, model.partial_fit(X[30:]).mean_)


@register
class Caching(RunningMean):
    """Leaves out of its state what it can make again."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        self._cache = memoryview(b"cannot be saved")
        return self

    def __getstate__(self):
        return {k: v for k, v in super().__getstate__().items() if k != "_cache"}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._cache = memoryview(b"made again")


def test_a_class_may_leave_out_a_cache_as_for_pickle(tmp_path):
    save(Caching().fit(X), tmp_path / "m")
    back = load(tmp_path / "m")
    assert back._cache == b"made again"
    assert np.array_equal(back.mean_, X.mean(axis=0))


def test_an_unfitted_model_keeps_its_parameters(tmp_path):
    model = BallMixture(3, means_init=X[:3], random_state=np.random.RandomState(5), tol=np.float32(0.1))
    save(model, tmp_path / "m")
    back = load(tmp_path / "m")
    assert set(vars(back)) == set(vars(model))
    assert np.array_equal(back.means_init, X[:3])
    assert back.random_state.randint(1 << 30) == np.random.RandomState(5).randint(1 << 30)
    assert type(back.tol) is np.float32


def test_estimators_inside_estimators(tmp_path):
    model = BallMixture(means_init=[RunningMean().fit(X)])
    save(model, tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").means_init[0].mean_, X.mean(axis=0))


FAMILIES = [
    distributions.Bernoulli([0.1, 0.3]),
    distributions.Bernoulli(),
    distributions.Poisson(1 / 3),
    distributions.Beta(2, 3),
    distributions.Gamma(2.0, 0.1),
    distributions.Categorical([0.1, 0.2, 0.7]),
    distributions.Gaussian([0.0, 1.0], [[2.0, 0.3], [0.3, 1.0]]),
    distributions.Product([(distributions.Poisson(2.0), 0), (distributions.Gaussian([0.0], [[1.0]]), 1)]),
]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_distributions(tmp_path, family):
    save(family, tmp_path / "d")
    back = load(tmp_path / "d")
    assert back == family
    if family.is_fitted:
        assert np.array_equal(back.sample(5, 0), family.sample(5, 0))
        X = family.sample(7, 1)
        assert back.log_prob(X).tobytes() == family.log_prob(X).tobytes()


def test_the_parameters_of_a_loaded_distribution_are_protected(tmp_path):
    save(distributions.Poisson([1.0, 2.0]), tmp_path / "d")
    with pytest.raises(ValueError, match="read-only"):
        load(tmp_path / "d").rate[0] = 3.0


def test_a_schema(tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
    schema = latently.data.infer_schema(table)
    save(schema, tmp_path / "s")
    assert load(tmp_path / "s") == schema


@register
@dataclass(frozen=True)
class Shares:
    parts: np.ndarray
    total: float = field(init=False)

    def __post_init__(self):
        # not idempotent in floating point: loading must not apply it a second time
        object.__setattr__(self, "parts", self.parts / self.parts.sum())
        object.__setattr__(self, "total", float(self.parts.sum()))


def test_a_record_keeps_its_bits_even_if_its_constructor_rounds():
    shares = Shares(np.array([0.1, 0.2, 0.6, 0.3, 1e-9]) * 3)
    for _ in range(3):
        back = there_and_back(shares)
        assert back.parts.tobytes() == shares.parts.tobytes()
        assert back.total == shares.total


def test_the_manifest_tells_class_and_versions(tmp_path):
    import sklearn

    save(distributions.Poisson(2.0), tmp_path / "d")
    manifest = read_manifest(tmp_path / "d")
    assert manifest["format"] == 1
    assert manifest["versions"] == {
        "latently": latently.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    assert manifest["model"]["class"] == "latently.distributions.Poisson"


def test_any_program_that_reads_safetensors_sees_the_arrays(tmp_path):
    from safetensors.numpy import load_file

    model = BallMixture(random_state=0).fit(X)
    save(model, tmp_path / "m")
    assert np.array_equal(load_file(tmp_path / "m")["BallMixture.params_.means"], model.means_)


def test_saving_over_a_file_keeps_the_old_one_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "m.latently"
    save(distributions.Poisson(2.0), path)

    def broken(*args):
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", broken)
        with pytest.raises(OSError, match="disk full"):
            save(distributions.Poisson(3.0), path)
    assert load(path) == distributions.Poisson(2.0)
    assert os.listdir(tmp_path) == ["m.latently"]


@pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
def test_a_saved_file_has_the_usual_mode(tmp_path):
    old = os.umask(0o027)
    try:
        save(distributions.Poisson(2.0), tmp_path / "d")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX")
def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = tmp_path / "d.latently"
    save(distributions.Poisson(np.full(200_000, 1.0)), path)
    code = (
        "import sys, numpy as np, latently\n"
        "from latently.distributions import Poisson\n"
        "print('ready', flush=True)\n"
        "for i in range(1, 10**6): latently.save(Poisson(np.full(200_000, float(i))), sys.argv[1])\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    with writer, writer.stdout:
        writer.stdout.readline()
        for _ in range(20):  # a reader beside the writer never sees half a file
            rate = load(path).rate
            assert (rate == rate[0]).all()
        writer.kill()
    assert load(path).n_columns == 200_000


def test_pickle_works_too(tmp_path):
    model = BallMixture(random_state=0).fit(X)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict_proba(X), model.predict_proba(X))


def test_an_object_shared_with_a_dict_parameter_comes_back(tmp_path):
    from latently.cluster import GaussianMixture
    from latently.distributions import Dirichlet

    prior = {"weights": Dirichlet(np.array([2.0, 3.0]))}
    mixture = GaussianMixture(2, prior=prior, random_state=0).fit(np.arange(20.0)[:, None])
    mixture.seen_prior_ = prior["weights"]
    latently.save(mixture, tmp_path / "shared.latently")
    loaded = latently.load(tmp_path / "shared.latently")
    assert loaded.seen_prior_ == prior["weights"]
    assert loaded.prior["weights"] == prior["weights"]
