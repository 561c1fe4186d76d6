"""Two views of the same persons: exercises and body measures, linear and not.

The Linnerud data: twenty men, three exercises and three measures of the body. CCA finds one pair of directions that go
together; Wilks' lambda and a permutation test say how sure that is. Then a relation that no straight line sees, which
KernelCCA finds in rows it has not learnt. Draws factor_two_views.png.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_linnerud

from latently.factor import CCA, KernelCCA
from latently.plot import CanonicalPairsDisplay


def main() -> None:
    X, Y = load_linnerud(return_X_y=True)
    model = CCA(n_components=3).fit(X, Y)
    test, shuffled = model.wilks(), model.permutation_test(X, Y, 499, random_state=0)
    rows = zip(model.canonical_correlations_, test.wilks, test.p_values, shuffled.p_values, strict=True)
    for correlation, wilks, p, q in rows:
        print(f"correlation {correlation:.3f}  Wilks {wilks:.3f}  p {p:.3f}  by permutation {q:.3f}")

    rng = np.random.default_rng(0)
    A = rng.uniform(-2, 2, size=(600, 3))
    B = np.column_stack([A[:, 0] ** 2, rng.normal(size=600)]) + 0.1 * rng.normal(size=(600, 2))
    line = CCA(n_components=1).fit(A[:400], B[:400])
    bent = KernelCCA(n_components=1).fit(A[:400], B[:400])
    print(f"a parabola: CCA {line.canonical_correlations_[0]:.2f}, KernelCCA {bent.canonical_correlations_[0]:.2f}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    CanonicalPairsDisplay.from_estimator(model, X, Y, ax=left)
    CanonicalPairsDisplay.from_estimator(bent, A[400:], B[400:], ax=right)
    right.set_title("KernelCCA on new rows: " + right.get_title())
    figure.savefig("factor_two_views.png", dpi=80)


if __name__ == "__main__":
    main()
