import pytest


@pytest.fixture(autouse=True)
def _no_windows():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
