"""`latently completion`."""

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print what a shell needs to complete the commands and options of latently.

    For example: latently completion bash >> ~/.bashrc

    Parameters
    ----------
    shell
        Which shell.
    """
    from latently.cli.app import make_app

    print(make_app().generate_completion(prog_name="latently", shell=shell))
