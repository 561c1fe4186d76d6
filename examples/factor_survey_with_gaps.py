"""A survey with gaps: what three hidden traits say about twelve answers, and about answers that were not given.

A third of the answers is missing. PCA is fitted by EM to what is there, finds the number of traits by evidence, fills
the gaps with intervals, and is compared with the answers that were hidden. Draws factor_survey_with_gaps.png.
"""

import matplotlib.pyplot as plt
import numpy as np

from latently.factor import PCA, FactorAnalysis
from latently.plot import LoadingsDisplay, ScreeDisplay


def survey(n: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """All answers, and those that were given."""
    rng = np.random.default_rng(0)
    loadings = np.kron(np.eye(3), np.ones((1, 4))) * rng.uniform(0.7, 1.3, size=(1, 12))
    answers = rng.normal(size=(n, 3)) @ loadings + 0.5 * rng.normal(size=(n, 12)) + 4
    given = np.where(rng.random(answers.shape) < 1 / 3, np.nan, answers)
    return answers, given


def main() -> None:
    answers, given = survey()
    missing = np.isnan(given)
    model = PCA("mle").fit(given)
    print(f"{missing.mean():.0%} missing; {model.n_components_} components by evidence, EM took {model.n_iter_} steps")
    low, high = model.impute_interval(given, level=0.9)
    error = np.sqrt(((model.impute_mean(given) - answers)[missing] ** 2).mean())
    plain = np.sqrt(((np.nanmean(given, axis=0) - answers)[missing] ** 2).mean())
    inside = ((low <= answers) & (answers <= high))[missing].mean()
    print(f"error of the filled gaps {error:.2f} (column means: {plain:.2f}); 90 % intervals hold {inside:.0%}")
    factors = FactorAnalysis(model.n_components_, rotation="varimax").fit(given)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    ScreeDisplay.from_estimator(model, given, ax=left)
    LoadingsDisplay.from_estimator(factors, names=[f"question {j + 1}" for j in range(12)], ax=right)
    figure.savefig("factor_survey_with_gaps.png", dpi=80)


if __name__ == "__main__":
    main()
