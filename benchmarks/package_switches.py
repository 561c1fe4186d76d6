"""Usage: python -m benchmarks.package_switches

How often one call crosses from one package of latently to another: function calls whose caller is in another top-level
package than the function itself, counted with a profiler, for one `GaussianMixture.fit` on an array. Few switches mean
that the way of a call can be followed. Exits with 1 above the limit.
"""

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from sklearn.datasets import load_iris

from latently.cluster import GaussianMixture
from latently.learn import threads

LIMIT = 165  # half of the 330 of this very fit before small tables were one compiled call


def package_of(frame: FrameType | None) -> str | None:
    """Top-level package of latently that a frame belongs to; None for other code."""
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "latently" else None


def switches(call: Callable[[], Any]) -> Counter[tuple[str, str]]:
    """Calls from one package to another, by the two packages; code of others on the way does not count."""
    found: Counter[tuple[str, str]] = Counter()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        here, there = package_of(frame), package_of(frame.f_back)
        if here is not None and there is not None and here != there:
            found[there, here] += 1

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def fit_switches() -> Counter[tuple[str, str]]:
    """The switches of one fit of three components to iris, in one thread; what is loaded once is loaded before."""
    X = load_iris().data
    with threads(1):
        GaussianMixture(3, random_state=0).fit(X)
        return switches(lambda: GaussianMixture(3, random_state=0).fit(X))


def main() -> int:
    """Count, print, and say whether the limit is kept."""
    found = fit_switches()
    for (there, here), n in found.most_common():
        print(f"{there:>16} -> {here:<16}{n:>6}")
    print(f"{found.total()} switches in one GaussianMixture.fit (limit {LIMIT})")
    return int(found.total() > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
