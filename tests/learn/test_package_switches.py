"""The way of one fit through the packages stays short enough to be followed."""

from benchmarks.package_switches import LIMIT, fit_switches, package_of, switches

from latently.cluster import KMeans


def test_one_fit_of_a_mixture_crosses_packages_rarely():
    found = fit_switches()
    assert found["cluster", "learn"] > 0  # the profiler did look
    assert found.total() <= LIMIT


def test_calls_inside_a_package_and_of_others_do_not_count():
    assert package_of(None) is None
    assert not switches(lambda: sorted([2, 1], key=lambda x: x))
    assert switches(lambda: KMeans(2, n_init=1, random_state=0).fit([[0.0], [1.0], [9.0]])).total() > 0
