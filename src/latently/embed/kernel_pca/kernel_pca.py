"""Kernel principal component analysis."""

import warnings
from dataclasses import KW_ONLY
from numbers import Integral, Real
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from latently.embed.inputs import read_table
from latently.embed.kernel_pca.components import Components, Solving, from_all_rows, from_landmarks
from latently.embed.kernel_pca.pre_images import FixedPointPreImages, RidgePreImages
from latently.kernel.base import Array, Kernel, length
from latently.kernel.given import PairKernel, may_be_indefinite, named_kernel
from latently.kernel.gram.eigen import ROUNDING, Solver
from latently.kernel.gram.expansion import Expansion
from latently.kernel.gram.values import gram
from latently.kernel.vector import RBF, reads_tables
from latently.learn.estimator.parameters import CHOICES, COUNT, Flag, Seed, checked, stores_parameters
from latently.learn.estimator.tags import DeclaredTags

_NAMES = {"linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"}
_SINGLE = 1e-5  # what is rounding in the eigenvalues of a matrix that was computed in single precision


@stores_parameters
class KernelPCA(DeclaredTags, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal component analysis in the feature space of a kernel.

    A drop-in replacement for scikit-learn's class of the same name. A kernel that is not positive semi-definite is
    no error: components of negative eigenvalues are kept, with coordinates sqrt(abs(eigenvalue)) along them, whose
    squares count negatively; `negative_share_` says how much there is, and a warning too.

    Parameters
    ----------
    n_components
        How many; None for all whose eigenvalue is not zero.
    kernel
        "linear", "poly", "rbf", "sigmoid", "cosine", "precomputed", a function of two rows, or a kernel of
        `latently.kernel`, which may compare strings, trees or graphs.
    gamma
        Of "rbf", "poly" and "sigmoid"; one over the number of columns if None.
    degree, coef0
        Of "poly" and "sigmoid".
    kernel_params
        Further arguments of a function.
    alpha
        Ridge of the regression that finds pre-images.
    fit_inverse_transform
        Whether to learn pre-images, for `inverse_transform`.
    eigen_solver
        "dense", "arpack", "randomized" (approximate), or "auto": dense for few rows, and for many components.
    tol, max_iter
        Of "arpack"; 0 and None for what it can reach.
    iterated_power
        How often "randomized" multiplies with the matrix; "auto" for 7.
    remove_zero_eig
        Whether components of eigenvalue zero are left out.
    random_state
        Seed of the solvers, and of the choice of landmarks.
    copy_X
        Whether the rows of the fit are copied.
    n_jobs
        Not used: `latently.learn.threads` sets the number of threads.
    n_landmarks
        Describe rows by kernel values with this many of them (Nystroem): memory and time are then linear in the number
        of rows. None compares all with all.
    pre_image
        "ridge" learns a regression from scores to rows; "fixed_point" looks for the row whose image in feature space is
        closest, for an RBF kernel.

    Attributes
    ----------
    eigenvalues_
        (k,) eigenvalues of the centred kernel matrix, the largest first.
    eigenvectors_
        (n, k) eigenvectors; the largest entry of each is positive.
    negative_share_
        Size of the most negative eigenvalue as a share of the largest; 0 for a positive semi-definite kernel.
    gamma_
        The gamma that was used.
    X_fit_
        The rows of the fit, or the landmarks.
    X_transformed_fit_, dual_coef_
        Scores of those rows, and the coefficients of the ridge regression.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> scores = KernelPCA(2, kernel="rbf", gamma=2.0).fit_transform(X)
    >>> bool(scores[y == 1, 0].min() > scores[y == 0, 0].max())  # the inner circle stands apart
    True
    """

    _tags: ClassVar[dict[str, Any]] = {"sparse": True, "pairwise": attrgetter("_is_precomputed")}

    n_components: Annotated[int | None, COUNT, None] = None
    _: KW_ONLY
    kernel: Annotated[Any, StrOptions(_NAMES), Kernel, callable] = "linear"
    gamma: Annotated[float | None, Interval(Real, 0, None, closed="left"), None] = None
    degree: Annotated[float, Interval(Real, 0, None, closed="left")] = 3
    coef0: Annotated[float, Interval(Real, None, None, closed="neither")] = 1
    kernel_params: Annotated[dict[str, Any] | None, dict, None] = None
    alpha: Annotated[float, Interval(Real, 0, None, closed="left")] = 1.0
    fit_inverse_transform: Flag = False
    eigen_solver: Annotated[Solver, CHOICES] = "auto"
    tol: Annotated[float, Interval(Real, 0, None, closed="left")] = 0
    max_iter: Annotated[int | None, COUNT, None] = None
    iterated_power: Annotated[Any, Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})] = "auto"
    remove_zero_eig: Flag = False
    random_state: Seed = None
    copy_X: Flag = True  # noqa: N815 - the name that scikit-learn has
    n_jobs: Annotated[int | None, None, Integral] = None
    n_landmarks: Annotated[int | None, COUNT, None] = None
    pre_image: Annotated[Literal["ridge", "fixed_point"], CHOICES] = "ridge"

    @checked
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X
            (n, d) rows; their (n, n) kernel matrix for "precomputed"; whatever a kernel of ours compares.
        y
            Not used.
        """
        self._fitted(X)
        return self

    @checked
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Array:
        """Fit, and give the scores (n, k) of the rows."""
        return self._fitted(X)

    def _fitted(self, X: Any) -> Array:
        """Fit; scores of all rows."""
        things = self._read(X, reset=True)
        self._refuse_impossible()
        rows = things if isinstance(things, np.ndarray) else None
        self.gamma_ = 1.0 / rows.shape[1] if self.gamma is None and rows is not None else self.gamma
        self._kernel = None if self._is_precomputed else self._named(rows).adapted(things)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        found, centres = self._components(things, X, seed)
        if self.remove_zero_eig or self.n_components is None:
            found = found.kept(found.values != 0)
        self._remember(found, centres)
        return found.scores

    def _components(self, things: Any, X: Any, seed: int) -> tuple[Components, Any]:
        """The components, and the things that they are expanded in."""
        if self._kernel is not None and self.n_landmarks is not None and self.n_landmarks < length(things):
            return from_landmarks(self._kernel, things, self.n_components, self.n_landmarks, seed)
        K = self._symmetric(things) if self._kernel is None else gram(self._kernel, things)
        powers = 7 if self.iterated_power == "auto" else int(self.iterated_power)
        how = Solving(self.eigen_solver, self.tol, self.max_iter, powers, seed)
        single = isinstance(X, np.ndarray) and X.dtype == np.float32 and self._kernel is None
        found = from_all_rows(
            K, self.n_components, how, indefinite=may_be_indefinite(self._kernel),
            rounding=_SINGLE if single else ROUNDING,
        )  # fmt: skip
        if found.negative > 0:
            self._warn_indefinite(found)
        return found, things

    def _remember(self, found: Components, centres: Any) -> None:
        self.eigenvalues_, self.eigenvectors_ = found.values, found.vectors
        self.negative_share_ = found.negative
        copied = self.copy_X and isinstance(centres, np.ndarray)
        self.X_fit_ = centres.copy() if copied else centres
        self._weights, self._shift = found.weights, found.shift
        if not self.fit_inverse_transform:
            return
        self.X_transformed_fit_ = found.scores if self.n_landmarks is None else self._scores(self.X_fit_)
        if self.pre_image == "fixed_point":
            assert isinstance(self._kernel, RBF)
            parts = self.X_transformed_fit_, self.X_fit_, found.weights, found.mean
            self._pre_images: Any = FixedPointPreImages(self._kernel, *parts)
            return
        kernel = self._named(self.X_fit_)
        self._pre_images = RidgePreImages.fitted(kernel, self.X_transformed_fit_, self.X_fit_, self.alpha)
        self.dual_coef_ = self._pre_images.coefficients

    def _adopt(self, found: Components, K: Array) -> Self:
        """The model of a kernel matrix whose components somebody else found."""
        self.gamma_, self._kernel, self.n_features_in_ = self.gamma, None, K.shape[1]
        self._remember(found, K)
        return self

    def transform(self, X: Any) -> Array:
        """Scores (m, k) of new rows; for "precomputed", of their (m, n) kernel values with the rows of the fit."""
        check_is_fitted(self)
        return self._scores(self._read(X, reset=False))

    def _scores(self, things: Any) -> Array:
        if self._kernel is None:
            return np.asarray(things @ self._weights - self._shift)
        return np.asarray(Expansion(self._kernel, self.X_fit_, self._weights)(things) - self._shift)

    def inverse_transform(self, X: Any) -> Array:
        """Rows (m, d) whose images in feature space are close to those of given scores (m, k)."""
        check_is_fitted(self)
        if not self.fit_inverse_transform:
            raise NotFittedError("pre-images were not learnt: fit with fit_inverse_transform=True")
        scores = check_array(X, dtype=np.float64)
        if scores.shape[1] != len(self.eigenvalues_):
            raise ValueError(f"X has {scores.shape[1]} scores, but there are {len(self.eigenvalues_)} components")
        return np.asarray(self._pre_images(scores))

    # reading

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _read(self, X: Any, *, reset: bool) -> Any:
        """What is compared: a table of floats, or whatever the kernel reads (strings, trees)."""
        if not isinstance(self.kernel, Kernel) or reads_tables(self.kernel):
            return read_table(self, X, reset=reset)
        if length(X) == 0:
            raise ValueError("X has 0 sample(s): there is nothing to learn from")
        return X

    def _named(self, rows: Array | None) -> Kernel:
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            return PairKernel(self.kernel, self.kernel_params)
        gamma = self.gamma_ or 0.0
        if self.kernel == "rbf" and gamma == 0:
            raise ValueError("gamma=0 makes all rows alike: give a positive gamma, or None")
        return named_kernel(self.kernel, gamma=gamma, degree=int(self.degree), coef0=self.coef0, rows=rows)

    def _refuse_impossible(self) -> None:
        if self._is_precomputed and self.n_landmarks is not None:
            raise ValueError("landmarks are chosen among rows: with kernel='precomputed', n_landmarks must be None")
        if not self.fit_inverse_transform:
            return
        if self._is_precomputed:
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel: there are no rows to find")
        if isinstance(self.kernel, Kernel) and not reads_tables(self.kernel):
            raise ValueError("pre-images are rows of numbers: fit_inverse_transform needs a kernel of such rows")
        if self.pre_image == "fixed_point" and not (self.kernel == "rbf" or isinstance(self.kernel, RBF)):
            raise ValueError("pre_image='fixed_point' is for the RBF kernel: use 'ridge'")

    def _symmetric(self, K: Array) -> Array:
        if K.shape[0] != K.shape[1]:
            raise ValueError(
                f"Precomputed metric requires shape (n_queries, n_indexed): a kernel matrix is square, got {K.shape}"
            )
        gap = np.abs(K - K.T).max(initial=0.0)
        if gap > 1e-8 * np.abs(K).max(initial=0.0):
            warnings.warn(
                f"the kernel matrix is not symmetric (entries differ by up to {gap:.2g} from their mirror images): the "
                "mean of both is used", UserWarning, stacklevel=6,
            )  # fmt: skip
        return np.asarray((K + K.T) / 2)

    def _warn_indefinite(self, found: Components) -> None:
        below = int((found.values < 0).sum())
        warnings.warn(
            f"the kernel is not positive semi-definite: its most negative eigenvalue is {found.negative:.2g} of the "
            f"largest in size. {below} of {len(found.values)} components have negative eigenvalues: squares of their "
            "coordinates count negatively, as in latently.embed.PseudoEuclidean", UserWarning, stacklevel=6,
        )  # fmt: skip

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _expected_failed_checks(self) -> dict[str, str]:
        return {"check_array_api_input": "inverse_transform needs fit_inverse_transform=True, as in scikit-learn"}
