"""Three waves, mixed and separated again, with how sure that is.

Draws ica_waves.png.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.factor import JADE, ica_uncertainty
from latently.factor.ica.quality import amari_error
from latently.plot import SeparabilityDisplay, SourcesDisplay


def main() -> None:
    t = np.arange(4000)
    sources = np.column_stack([np.sin(t / 31), np.sign(np.sin(t / 47.3)), (t / 173.2) % 1])
    mixing = np.array([[1.0, 1.0, 1.0], [0.5, 2.0, 1.0], [1.5, 1.0, 2.0]])
    X = sources @ mixing.T + 0.02 * np.random.default_rng(0).normal(size=sources.shape)
    model = JADE().fit(X)
    found = ica_uncertainty(model, X, n_resamples=30, random_state=0)
    print(f"Amari error {amari_error(model.components_, mixing):.3f}")
    print(f"uncertainty of the components, in degrees: {np.degrees(found.uncertainty).round(2)}")
    print(f"blocks: {found.blocks}")

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    SourcesDisplay.from_estimator(model, X, ax=left)
    SeparabilityDisplay.from_uncertainty(found, ax=right)
    figure.savefig("ica_waves.png")


if __name__ == "__main__":
    main()
