"""The page on new models is a program: it runs, and its assertions hold."""

import re
from pathlib import Path

import dask

PAGE = Path(__file__).parents[2] / "docs" / "new_model.md"


def test_the_page_on_new_models_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 7
    # one module for all blocks, as a reader would run them
    program = compile("\n".join(blocks), str(PAGE), "exec")
    with dask.config.set(scheduler="synchronous"):
        exec(program, {"__name__": "new_model"})
