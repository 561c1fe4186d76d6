"""The container: one safetensors file whose metadata holds a JSON manifest and a checksum over everything."""

import hashlib
import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MANIFEST, _CHECKSUM = "latently", "sha256"
Arrays = dict[str, NDArray[Any]]


class LoadError(ValueError):
    """A saved file cannot be loaded: it is damaged, altered, too new, or names something that is not known.

    The message says which field is at fault and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.latently"
    >>> _ = path.write_bytes(b"not a model")
    >>> import latently
    >>> latently.load(path)
    Traceback (most recent call last):
    latently.data.storage.container.LoadError: ...model.latently is not a whole latently file ...
    """


def write(
    path: str | os.PathLike[str], manifest: dict[str, Any], arrays: Arrays, *, before: Path | None = None
) -> None:
    """Write a file so that at every moment there is the old one or the new one, whole.

    With `before`, the old one is kept under that name.
    """
    from safetensors.numpy import save

    text = json.dumps(manifest, allow_nan=False)
    _replace(Path(path), save(arrays, metadata={_MANIFEST: text, _CHECKSUM: _digest(text, arrays)}), before)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Read the manifest and the arrays; an error if the file is not whole or not what was written."""
    from safetensors import SafetensorError, safe_open

    with open(path, "rb"):  # a path that is absent or closed to us is the system's error, not the file's
        pass
    try:
        with safe_open(path, framework="np") as file:
            labels, arrays = file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, TypeError) as problem:
        raise LoadError(
            f"{os.fspath(path)} is not a whole latently file (truncated, or something else): {problem}; "
            "copy it again from where it was saved, or save the model again"
        ) from problem
    return _manifest(labels, arrays, os.fspath(path)), arrays


def _manifest(labels: dict[str, str], arrays: Arrays, path: str) -> dict[str, Any]:
    for field in (_MANIFEST, _CHECKSUM):
        if field not in labels:
            raise LoadError(f"{path} lacks the field {field!r} in its metadata: it is not a file of latently's")
    if _digest(labels[_MANIFEST], arrays) != labels[_CHECKSUM]:
        raise LoadError(
            f"{path} was altered after it was saved: its content does not match the field {_CHECKSUM!r}; "
            "copy it again from where it was saved, or save the model again"
        )
    try:
        manifest = json.loads(labels[_MANIFEST])
    except (ValueError, RecursionError) as problem:
        raise LoadError(f"{path}: the field {_MANIFEST!r} is not a JSON manifest: {problem}") from None
    if not isinstance(manifest, dict):
        raise LoadError(f"{path}: the field {_MANIFEST!r} is not a JSON object")
    return manifest


def _digest(text: str, arrays: Arrays) -> str:
    digest = hashlib.sha256(text.encode("utf-8"))
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name}\n{array.dtype.str}\n{array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _replace(path: Path, content: bytes, before: Path | None) -> None:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        # "x": a file of that name would be somebody else's
        with open(aside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if before is not None and path.exists():
            os.replace(path, before)
        os.replace(aside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(aside)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make a renaming durable, where folders can be opened for that (not on Windows)."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
