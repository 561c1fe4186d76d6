"""`save` and `load`: an object, its parts as JSON and arrays, one file, and back."""

import os
from importlib.metadata import version
from typing import Any

from latently._version import __version__
from latently.data.storage import container
from latently.data.storage.container import LoadError
from latently.persist.classes import is_estimator, is_record
from latently.persist.decode import Decoder, need
from latently.persist.encode import Encoder

FORMAT = 1
"""Version of the format of the files; it rises only when an older latently could not read them any more."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model, a distribution or a schema in one file, from which it comes back to the last bit.

    The file holds arrays as safetensors and a JSON manifest with the class, its parameters and fitted
    attributes and the versions it was made with. It holds no code. It is written aside and then renamed, so a
    crash leaves either the old file or the new one.

    Parameters
    ----------
    model
        An estimator of latently, fitted or not, one of its records (a distribution, a schema), or an object of a
        class that was registered by `latently.persist.register`.
    path
        Where to; by custom the name ends in `.latently`.

    Raises
    ------
    TypeError
        If something in the model cannot be saved; the message names it.

    Examples
    --------
    >>> import tempfile, latently
    >>> from latently.distributions import Poisson
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     latently.save(Poisson(2.5), f"{folder}/counts.latently")
    ...     latently.load(f"{folder}/counts.latently")
    Poisson(rate=array([2.5]))
    """
    if not (is_estimator(type(model)) or is_record(type(model))):
        raise TypeError(f"save takes an estimator or a record of latently, not {type(model).__name__}")
    encoder = Encoder()
    versions = {name: version(name) for name in ("numpy", "scikit-learn")}
    tree = encoder.encode(model, type(model).__name__)
    manifest = {"format": FORMAT, "versions": {"latently": __version__, **versions}, "model": tree}
    container.write(path, manifest, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load what `save` wrote. No code from the file is run; what is not known is refused.

    Files of every earlier format can be read. A file written by a newer latently can be read as long as its
    format is not newer and every parameter in it is known here.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    LoadError
        If the file is truncated, altered, of a newer format, incomplete, or names an unknown class.
    """
    manifest, arrays = _checked(path)
    tree = need(manifest, "model", "the manifest")
    if not isinstance(tree, dict):
        raise LoadError(f"the field 'model' of {os.fspath(path)} is {tree!r}, not a model")
    name = str(need(tree, "class", "the field 'model'")).rsplit(".", 1)[-1]
    return Decoder(arrays, _maker(manifest)).decode(tree, name)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What is in a file, without building it: format, versions, and the model as a tree of JSON.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile, latently
    >>> from latently.distributions import Poisson
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     latently.save(Poisson(2.5), f"{folder}/counts.latently")
    ...     read_manifest(f"{folder}/counts.latently")["model"]["class"]
    'latently.distributions.Poisson'
    """
    return _checked(path)[0]


def _checked(path: str | os.PathLike[str]) -> tuple[dict[str, Any], container.Arrays]:
    manifest, arrays = container.read(path)
    form = need(manifest, "format", "the manifest")
    if not isinstance(form, int) or form < 1:
        raise LoadError(f"the field 'format' of {os.fspath(path)} is {form!r}, not the number of a format")
    if form > FORMAT:
        raise LoadError(
            f"the field 'format' of {os.fspath(path)} is {form}, written by {_maker(manifest)}; this latently "
            f"{__version__} reads formats up to {FORMAT}: upgrade latently"
        )
    return manifest, arrays


def _maker(manifest: dict[str, Any]) -> str:
    return f"latently {manifest.get('versions', {}).get('latently', 'of an unknown version')}"
