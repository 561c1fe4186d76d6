"""The commands together: parsing, errors in one sentence, exit codes."""

import os
import sys
import traceback

from cyclopts import App, CycloptsError

from latently._version import __version__
from latently.cli.apply import apply
from latently.cli.compare import compare
from latently.cli.completion import completion
from latently.cli.explore import explore
from latently.cli.fit import fit
from latently.cli.models import models
from latently.cli.words import printable

OK, FAULT, BAD_INPUT = 0, 1, 2
_HELP = """Learn what data leaves unsaid: clusters, states, missing values, what does not belong; and how sure that is.

Start with: latently explore FILE. Without a file it explores a table that comes with it.
Any command takes --debug, which shows where an error came from."""


def make_app() -> App:
    """Put the commands together."""
    app = App(name="latently", help=_HELP, version=__version__, help_format="plaintext")
    for command in (explore, fit, apply, compare, models, completion):
        app.command(command)
    return app


def run(arguments: list[str] | None = None) -> int:
    """Run a command; see `latently.cli.main`."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in given
    words = [word for word in given if word != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that lacks a sign shows another
    try:
        make_app()(words, exit_on_error=False, print_error=False, result_action="return_value")
    except Exception as problem:
        return _report_error(problem, debug)
    except KeyboardInterrupt:
        print("latently: stopped", file=sys.stderr)
        return 130
    return OK


def _report_error(problem: Exception, debug: bool) -> int:
    """Say what went wrong in one sentence; what the user can mend is bad input, all else is a fault of ours."""
    if isinstance(problem, BrokenPipeError):
        # whoever read our output has enough; nothing more may be written, not even at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    if debug:
        traceback.print_exception(problem)
    mendable = isinstance(problem, CycloptsError | ValueError | TypeError | OSError | ImportError)
    text = printable(" ".join(str(problem).split())) or type(problem).__name__
    hint = (
        "" if mendable else f" (a fault of latently, {type(problem).__name__}: run again with --debug, and report it)"
    )
    print(f"latently: {text}{hint}", file=sys.stderr)
    return BAD_INPUT if mendable else FAULT
