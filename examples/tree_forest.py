"""A random forest: score out of the bag, which columns matter, intervals, and what it says along a column.

442 patients, ten measurements, how far a disease went on in a year. Draws tree_forest.png.
"""

from sklearn.datasets import load_diabetes

from latently.plot import PartialDependenceDisplay
from latently.predict import RandomForestRegressor


def main() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = RandomForestRegressor(60, min_samples_leaf=3, oob_score=True, keep_targets=True, random_state=0).fit(X, y)
    print(f"R squared out of the bag: {forest.oob_score_:.2f}")

    found = forest.permutation_importances(X, y, groups="correlated", n_repeats=3, random_state=0)
    for members, gain in sorted(zip(found.members, found.importances_mean, strict=True), key=lambda pair: -pair[1])[:4]:
        print(f"{', '.join(members):20s} {gain:.2f}")

    low, high = forest.predict_quantiles(X[:3], [0.1, 0.9]).T
    print("80 % intervals:", [(float(a), float(b)) for a, b in zip(low, high, strict=True)])
    display = PartialDependenceDisplay.from_estimator(forest, X, "bmi", grid=[-0.05, 0.0, 0.05, 0.1])
    print("along bmi:", display.average.round(0).tolist())
    display.figure_.savefig("tree_forest.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
