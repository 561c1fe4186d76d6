"""The command line: each command is a function whose docstring is its help."""

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line, and give its exit code: 0 for success, 2 for bad input, 1 for a fault of ours.

    Parameters
    ----------
    arguments
        The words after `latently`; those of the process if None.

    Examples
    --------
    >>> main(["--version"])
    0.1.0...
    0
    """
    from latently.cli.app import run

    return run(arguments)
