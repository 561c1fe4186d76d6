"""What cannot be saved, and files that cannot be loaded: each error names the place and what to do."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors
from sklearn.cluster import KMeans as ForeignKMeans
from tests.checks.models import BallMixture, RunningMean

from latently.data.storage import container
from latently.distributions import Poisson
from latently.persist import LoadError, classes, load, register, save

X = np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.latently"
    save(BallMixture(random_state=0).fit(X), path)
    return path


def rewrite(path: Path, change) -> Path:
    """Change the manifest and arrays of a file and give it a checksum that is right."""
    manifest, arrays = container.read(path)
    change(manifest, arrays)
    container.write(path, manifest, arrays)
    return path


# saving


class Loop(RunningMean):
    pass


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (lambda x: x, r"BallMixture\.means_init is a builtins\.function"),
        ({"a": [0, SimpleNamespace()]}, r"BallMixture\.means_init\['a'\]\[1\] is a types\.SimpleNamespace"),
        (ForeignKMeans(), r"BallMixture\.means_init is a sklearn\.cluster"),
        (np.ma.masked_array([1.0]), r"BallMixture\.means_init is a MaskedArray"),
        (np.zeros(2, dtype=[("a", "f8")]), r"BallMixture\.means_init .*cannot be saved"),
        (np.array([object()], dtype=object), r"BallMixture\.means_init\[0\] is a builtins\.object"),
        (np.float64, r"BallMixture\.means_init is a builtins\.type"),
        (Loop(), r"Loop, which cannot be saved .*latently\.persist\.register"),
    ],
    ids=["lambda", "nested", "foreign", "masked", "structured", "objects", "class", "unregistered"],
)
def test_what_cannot_be_saved_is_named(tmp_path, value, place):
    with pytest.raises(TypeError, match=place):
        save(BallMixture(means_init=value), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_circle_is_named(tmp_path):
    ring = []
    ring.append(ring)
    with pytest.raises(TypeError, match=r"means_init\[0\] is part of a reference cycle"):
        save(BallMixture(means_init=ring), tmp_path / "m")


def test_only_models_and_records_are_saved(tmp_path):
    with pytest.raises(TypeError, match="not dict"):
        save({"a": 1}, tmp_path / "m")


def test_only_estimators_and_frozen_records_can_be_registered():
    @dataclass
    class Loose:
        a: int

    with pytest.raises(TypeError, match="Loose"):
        register(Loose)


# loading: damage


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.latently")


@pytest.mark.parametrize("keep", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(saved, keep):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(LoadError, match=r"model\.latently is not a whole latently file .*save the model again"):
        load(saved)


def test_every_altered_byte_is_noticed(tmp_path):
    path = tmp_path / "d"
    save(Poisson([1.0, 2.0]), path)
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        with pytest.raises(LoadError):
            load(path)


def test_an_altered_number_is_called_altered(saved):
    content = bytearray(saved.read_bytes())
    content[-3] ^= 1
    saved.write_bytes(content)
    with pytest.raises(LoadError, match=r"altered after it was saved.*'sha256'"):
        load(saved)


def test_a_file_of_another_program(tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(save_tensors({"a": np.zeros(2)}))
    with pytest.raises(LoadError, match="lacks the field 'latently'"):
        load(path)


def test_a_pickle_is_refused(tmp_path):
    import pickle

    path = tmp_path / "m.pkl"
    path.write_bytes(pickle.dumps(BallMixture()))
    with pytest.raises(LoadError, match="not a whole latently file"):
        load(path)


# loading: versions


def test_a_newer_format(saved):
    def change(manifest, arrays):
        manifest["format"], manifest["versions"]["latently"] = 2, "9.0.0"

    with pytest.raises(LoadError, match=r"'format' .* is 2, written by latently 9\.0\.0; .*upgrade latently"):
        load(rewrite(saved, change))


def test_a_newer_latently_of_the_same_format_is_read(saved):
    def change(manifest, arrays):
        manifest["versions"]["latently"] = "99.1.0"

    assert load(rewrite(saved, change)).converged_


@pytest.mark.parametrize("form", [0, "1", None])
def test_a_format_that_is_no_format(saved, form):
    with pytest.raises(LoadError, match="'format'"):
        load(rewrite(saved, lambda manifest, arrays: manifest.update(format=form)))


def test_a_parameter_of_a_newer_version(saved):
    def change(manifest, arrays):
        manifest["model"]["params"]["shininess"] = 3

    with pytest.raises(LoadError, match=r"BallMixture\.shininess is not a parameter .*install the version"):
        load(rewrite(saved, change))


def test_a_parameter_that_an_older_version_did_not_have_gets_its_default(saved):
    def change(manifest, arrays):
        del manifest["model"]["params"]["max_iter"]

    assert load(rewrite(saved, change)).max_iter == BallMixture().max_iter


# loading: content


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("format",), "the manifest lacks the field 'format'"),
        (("model",), "the manifest lacks the field 'model'"),
        (("model", "class"), "'model' lacks the field 'class'"),
        (("model", "kind"), "BallMixture lacks the field 'kind'"),
        (("model", "params"), "BallMixture lacks the field 'params'"),
        (("model", "fitted"), "BallMixture lacks the field 'fitted'"),
        (("model", "fitted", "model_origin_", "name"), "BallMixture.model_origin_ lacks the field 'name'"),
        (("model", "fitted", "model_origin_", "dtype"), "model_origin_ cannot be rebuilt .*'dtype'"),
        (("model", "fitted", "params_", "fields"), "BallMixture.params_ lacks the field 'fields'"),
        (("model", "fitted", "params_", "fields", "means"), "BallMixture.params_ lacks the field 'means'"),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else "",
)
def test_a_missing_field_is_named(saved, path, message):
    def change(manifest, arrays):
        *outer, last = path
        for name in outer:
            manifest = manifest[name]
        del manifest[last]

    with pytest.raises(LoadError, match=message):
        load(rewrite(saved, change))


def test_a_missing_array_is_named(saved):
    with pytest.raises(LoadError, match=r"the arrays behind BallMixture\.\w+.* lacks the field"):
        load(rewrite(saved, lambda manifest, arrays: arrays.clear()))


@pytest.mark.parametrize(
    "name",
    [
        "latently.cluster.Nothing",
        "latently.nothing.Model",
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.cluster.KMeans",
        "latently.distributions.base.np",
        "latently.distributions.base.ABC",
        "latently.learn.engine.em.os",
        "latently.persist.store.Encoder",
        "latently",
        "",
        3,
        None,
    ],
)
def test_an_unknown_class_is_refused(saved, name):
    def change(manifest, arrays):
        manifest["model"]["class"] = name

    with pytest.raises(
        LoadError, match="this latently does not know; the file was written by latently .*install the version"
    ):
        load(rewrite(saved, change))


def test_nothing_outside_latently_is_imported(saved, tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('code from a file was run')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("trap.Model", "latently.trap.Model", "latently.distributions.trap.Model"):
        with pytest.raises(LoadError, match="does not know"):
            load(rewrite(saved, lambda manifest, _, name=name: manifest["model"].update({"class": name})))


def test_a_room_whose_dependency_is_absent_says_so(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(classes, "_find", absent)
    with pytest.raises(LoadError, match="needs torch: install it"):
        classes.class_of("latently.neural.Autoencoder", "model", "latently 1")


@pytest.mark.parametrize("name", ["predict", "__class__", "__dict__", "two words", "fit"])
def test_no_attribute_hides_a_method(saved, name):
    def change(manifest, arrays):
        manifest["model"]["fitted"][name] = 1

    with pytest.raises(LoadError, match="not the name of a fitted attribute"):
        load(rewrite(saved, change))


NEGATIVE = {"kind": "record", "class": "latently.distributions.Poisson", "fields": {"rate": -1.0}}
STREAM = {"kind": "generator", "state": {"kind": "dict", "items": [["bit_generator", "seed"]]}}


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"kind": "python", "code": "1"}, "unknown kind 'python'"),
        ({"kind": []}, "unknown kind"),
        ({"kind": "float", "value": "1"}, "cannot be rebuilt"),
        ({"kind": "tuple", "items": 3}, "cannot be rebuilt"),
        (NEGATIVE, "must not be negative"),
        ({"kind": "record", "class": "tests.checks.models.BallMixture", "fields": {}}, "saved as a record"),
        (
            {"kind": "estimator", "class": "latently.distributions.Poisson", "params": {}, "fitted": {}},
            "saved as an estimator",
        ),
        (STREAM, "random stream 'seed'"),
        ({"kind": "objects", "items": [1], "shape": [7]}, "cannot be rebuilt"),
    ],
)
def test_a_crafted_value_is_refused(saved, node, message):
    def change(manifest, arrays):
        manifest["model"]["params"]["means_init"] = node

    with pytest.raises(LoadError, match=f"BallMixture.means_init.*{message}"):
        load(rewrite(saved, change))


def test_an_array_of_objects_cannot_come_from_a_file(saved):
    def change(manifest, arrays):
        manifest["model"]["fitted"]["model_origin_"]["dtype"] = "|O"

    with pytest.raises(LoadError, match=r"model_origin_ cannot be rebuilt.*cannot come from a file"):
        load(rewrite(saved, change))


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000])
def test_a_manifest_that_is_none(tmp_path, text):
    labels = {"latently": text, "sha256": container._digest(text, {})}
    path = tmp_path / "m"
    path.write_bytes(save_tensors({}, metadata=labels))
    with pytest.raises(LoadError, match="'latently' is not a JSON"):
        load(path)


def test_a_model_that_is_none(saved):
    with pytest.raises(LoadError, match=r"'model' .* is 5, not a model"):
        load(rewrite(saved, lambda manifest, arrays: manifest.update(model=5)))
