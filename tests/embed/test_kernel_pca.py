import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles
from sklearn.decomposition import KernelPCA as PeerKernelPCA

from latently.embed import KernelPCA, relevant_dimension
from latently.kernel import RBF, NGramKernel
from latently.kernel.gram import centred
from latently.plot import RelevantDimensionDisplay

X = load_iris().data


@pytest.mark.parametrize("settings", [
    {"kernel": "rbf"}, {"kernel": "poly", "degree": 2}, {"kernel": "cosine"},
    {"kernel": "rbf", "eigen_solver": "arpack"}, {"kernel": "rbf", "eigen_solver": "randomized"},
])  # fmt: skip
def test_scores_are_those_of_the_peer(settings):
    ours, peer = KernelPCA(3, **settings).fit(X[::2]), PeerKernelPCA(3, **settings).fit(X[::2])
    np.testing.assert_allclose(ours.eigenvalues_, peer.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(peer.transform(X)), atol=1e-5)
    assert ours.negative_share_ == 0
    assert (ours.eigenvectors_[np.abs(ours.eigenvectors_).argmax(axis=0), range(3)] > 0).all()


def test_a_kernel_of_ours_and_a_function_are_what_their_names_are():
    named = KernelPCA(2, kernel="rbf", gamma=0.5).fit_transform(X)
    np.testing.assert_allclose(KernelPCA(2, kernel=RBF(gamma=0.5)).fit_transform(X), named, atol=1e-10)
    function = lambda x, y: float(np.exp(-0.5 * ((x - y) ** 2).sum()))  # noqa: E731
    some = KernelPCA(2, kernel="rbf", gamma=0.5).fit_transform(X[:20])
    np.testing.assert_allclose(KernelPCA(2, kernel=function).fit_transform(X[:20]), some, atol=1e-10)


def test_strings_have_components_too():
    words = ["banana", "bananas", "ananas", "table", "tables", "stable"]
    model = KernelPCA(2, kernel=NGramKernel(2)).fit(words)
    np.testing.assert_allclose(model.transform(words) ** 2 @ [1, 1], (model.eigenvectors_**2) @ model.eigenvalues_)
    with pytest.raises(ValueError, match="rows of numbers"):
        KernelPCA(2, kernel=NGramKernel(2), fit_inverse_transform=True).fit(words)


def test_negative_eigenvalues_are_kept_and_reported():
    rng = np.random.default_rng(0)
    K = rng.normal(size=(12, 12)) + 6 * np.eye(12)
    K = centred((K + K.T) / 2)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = KernelPCA(kernel="precomputed").fit(K - 5 * centred(np.eye(12)))
    values = np.linalg.eigvalsh(K - 5 * centred(np.eye(12)))[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[np.abs(values) > 1e-9], atol=1e-9)
    assert model.negative_share_ == pytest.approx(-values[-1] / np.abs(values).max())
    scores = model.transform(K - 5 * centred(np.eye(12)))
    np.testing.assert_allclose(scores * np.sign(model.eigenvalues_) @ scores.T, K - 5 * centred(np.eye(12)), atol=1e-8)
    with pytest.warns(UserWarning, match="not symmetric"):
        KernelPCA(1, kernel="precomputed").fit([[1.0, 2.0], [3.0, 40.0]])


def test_landmarks_come_close_and_all_rows_as_landmarks_are_exact():
    exact = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X)
    few = KernelPCA(2, kernel="rbf", gamma=0.2, n_landmarks=60, random_state=0).fit(X)
    np.testing.assert_allclose(few.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    np.testing.assert_allclose(np.abs(few.transform(X)), np.abs(exact.transform(X)), atol=2e-2)
    np.testing.assert_allclose(few.fit_transform(X), few.transform(X), atol=1e-10)
    assert len(few.X_fit_) == 60
    with pytest.raises(ValueError, match="landmarks are chosen among rows"):
        KernelPCA(kernel="precomputed", n_landmarks=2).fit(np.eye(3))


@pytest.mark.parametrize("n_landmarks", [None, 100])
@pytest.mark.parametrize("pre_image", ["ridge", "fixed_point"])
def test_pre_images_take_noise_away(pre_image, n_landmarks):
    rows, _ = make_circles(200, factor=0.999, noise=0.08, random_state=0)
    model = KernelPCA(
        6, kernel="rbf", gamma=1.0, fit_inverse_transform=True, alpha=1e-2, pre_image=pre_image,
        n_landmarks=n_landmarks, random_state=0,
    ).fit(rows)  # fmt: skip
    cleaned = model.inverse_transform(model.transform(rows))
    assert np.std(np.linalg.norm(cleaned, axis=1)) < 0.9 * np.std(np.linalg.norm(rows, axis=1))


def test_a_ridge_pre_image_is_that_of_the_peer():
    settings = {"kernel": "rbf", "fit_inverse_transform": True, "alpha": 0.1}
    ours, peer = KernelPCA(4, **settings).fit(X), PeerKernelPCA(4, **settings).fit(X)
    found = ours.inverse_transform(ours.transform(X[:5]))
    np.testing.assert_allclose(found, peer.inverse_transform(peer.transform(X[:5])), atol=1e-6)


def test_missing_values_are_sent_to_a_method_that_takes_them():
    with pytest.raises(ValueError, match=r"NaN.*latently\.factor\.PCA"):
        KernelPCA().fit([[1.0, np.nan], [0.0, 1.0]])


# relevant dimension


def signal(n, d, noise, seed=0):
    """A kernel matrix with n known eigenvectors, and labels that are made of the first d of them."""
    rng = np.random.default_rng(seed)
    basis = centred(np.eye(n))
    U = np.linalg.qr(basis @ rng.normal(size=(n, n - 1)))[0]
    y = np.sqrt(n) * U[:, :d] @ rng.choice([-1.0, 1.0], d) + noise * rng.normal(size=n)
    return U @ np.diag(0.9 ** np.arange(n - 1.0)) @ U.T, y, U


@pytest.mark.parametrize("d", [1, 3, 10])
def test_the_relevant_dimension_is_found(d):
    K, y, U = signal(200, d, 0.2)
    found = relevant_dimension(K, y)
    assert found.dimension == found.by_likelihood == d
    assert d <= found.by_cross_validation <= d + 6
    assert found.noise == pytest.approx(0.04, rel=0.3)
    np.testing.assert_allclose(np.abs(found.coefficients[:d, 0]), np.abs(U[:, :d].T @ y))
    fitted = U[:, :d] @ U[:, :d].T @ y
    assert found.error[d] == pytest.approx(((y - y.mean() - fitted) ** 2).mean())
    assert (np.diff(found.error) <= 1e-12).all()
    assert relevant_dimension(K, y, method="cross_validation").dimension == found.by_cross_validation


def test_the_cross_validation_is_that_of_leaving_each_row_out():
    K, y, _ = signal(12, 2, 0.3)
    found = relevant_dimension(K, y, centre=False)
    U = np.linalg.eigh(K)[1][:, ::-1][:, :3]
    left = [y[i] - U[i] @ np.linalg.lstsq(np.delete(U, i, 0), np.delete(y, i), rcond=None)[0] for i in range(12)]
    assert found.cross_validation[3] == pytest.approx(np.mean(np.square(left)))


def test_labels_are_reconstructed():
    iris = load_iris()
    found = relevant_dimension(RBF()(iris.data), iris.target_names[iris.target])
    assert found.error[found.dimension] < 0.06
    assert found.error[0] == pytest.approx(2 / 3)
    assert list(found.classes) == ["setosa", "versicolor", "virginica"]
    display = RelevantDimensionDisplay.from_labels(RBF()(iris.data), iris.target)
    assert display.dimension == found.dimension
    assert len(display.line_.get_ydata()) <= len(found.error)
    with pytest.raises(ValueError, match="150 rows, but there are 3 labels"):
        relevant_dimension(RBF()(iris.data), [1, 2, 3])
