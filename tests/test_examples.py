"""Every example runs to its end, says something, and leaves a figure; its own tests hold."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_example_runs(path, capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path)])
    defined = runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()
    figure = tmp_path / f"{path.stem}.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert figure.stat().st_size < 150_000
    for name, check in defined.items():
        if name.startswith("test_"):
            check()
    plt.close("all")


def test_there_are_at_least_ten_examples():
    assert len(EXAMPLES) >= 10
