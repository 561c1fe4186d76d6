"""What is raised when a file cannot be read back."""


class LoadError(ValueError):
    """A saved file cannot be loaded: it is damaged, altered, too new, or names something that is not known.

    The message says which field is at fault and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.tacit"
    >>> _ = path.write_bytes(b"not a model")
    >>> import tacit
    >>> tacit.load(path)
    Traceback (most recent call last):
    tacit.persist.errors.LoadError: ...model.tacit is not a whole tacit file ...
    """
