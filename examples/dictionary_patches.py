"""Atoms of 8 x 8 patches of a photograph, and the patches made of four of them each.

Draws dictionary_patches.png.
"""

from sklearn.datasets import load_sample_image
from sklearn.feature_extraction.image import extract_patches_2d

from latently.factor import DictionaryLearning
from latently.plot import AtomsDisplay


def main() -> None:
    image = load_sample_image("china.jpg").mean(axis=2) / 255
    patches = extract_patches_2d(image, (8, 8), max_patches=5000, random_state=0).reshape(5000, -1)
    patches = patches - patches.mean(axis=1, keepdims=True)
    patches /= patches.std()
    model = DictionaryLearning(
        100, tol=1e-3, fit_algorithm="cd", transform_algorithm="omp", transform_n_nonzero_coefs=4, random_state=0
    ).fit(patches)
    lost = ((patches - model.inverse_transform(model.transform(patches))) ** 2).mean()
    print(f"{model.n_iter_} iterations; four atoms of 100 leave {lost:.1%} of the variance")
    AtomsDisplay.from_estimator(model, (8, 8)).figure_.savefig("dictionary_patches.png")


if __name__ == "__main__":
    main()
