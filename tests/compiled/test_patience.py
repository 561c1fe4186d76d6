"""The garbage collector while kernels compile."""

import gc
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core import event

from latently import compiled
from latently.compiled._patience import Patience


def compiling(module):
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


OURS, OTHERS = compiling("latently.compiled.kmeans.lloyd"), compiling("somebody.elses")


@pytest.fixture
def collector():
    before = gc.isenabled()
    yield
    (gc.enable if before else gc.disable)()


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("on", [True, False])
def test_the_collector_rests_until_the_outermost_kernel_is_done_and_is_then_as_before(on):
    (gc.enable if on else gc.disable)()
    patience = Patience()
    patience.on_start(OURS)
    patience.on_start(OURS)
    assert not gc.isenabled()
    patience.on_end(OURS)
    assert not gc.isenabled()
    patience.on_end(OURS)
    assert gc.isenabled() == on


@pytest.mark.usefixtures("collector")
def test_other_code_is_left_alone():
    gc.enable()
    patience = Patience()
    patience.on_start(OTHERS)
    assert gc.isenabled()
    patience.on_end(OTHERS)
    assert gc.isenabled()


@pytest.mark.usefixtures("collector")
def test_kernels_compile_with_the_collector_at_rest():
    gc.enable()
    seen = []

    class Witness(event.Listener):
        def on_start(self, event):
            seen.append(gc.isenabled())

        def on_end(self, event):
            seen.append(gc.isenabled())

    kernel = compiled.kmeans.lloyd.distances.py_func
    fresh = type(compiled.kmeans.lloyd.distances)(kernel, targetoptions={"nopython": True, "nogil": True})
    witness = Witness()
    event.register("numba:compile", witness)
    try:
        T, four = np.zeros((3, 8)), np.zeros((4, 8))
        fresh(np.ones((2, 2)), np.zeros(2), np.zeros((4, 2)), (T, four), None, np.empty((2, 1)))
    finally:
        event.unregister("numba:compile", witness)
    assert seen
    assert not seen[0]
    assert gc.isenabled()
