"""`tacit completion`."""

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
    """Print what a shell needs to complete the commands and options of tacit.

    For example: tacit completion bash >> ~/.bashrc

    Parameters
    ----------
    shell
        Which shell.
    """
    from tacit.cli.app import make_app

    print(make_app().generate_completion(prog_name="tacit", shell=shell))
