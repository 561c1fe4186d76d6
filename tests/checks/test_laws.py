"""Every law is kept by a model that is right, and broken by one that is wrong in that way."""

import re
from pathlib import Path
from unittest import SkipTest

import pytest
from sklearn.naive_bayes import CategoricalNB
from tests.checks.models import BallMixture, Balls, RunningMean
from tests.checks.mutants import (
    AlwaysConverged,
    BoundTooHigh,
    CloneRemembers,
    DoublesWeights,
    FirstRowCounts,
    ForgetsStrangers,
    FramesDiffer,
    HalfPrecision,
    HasNan,
    IgnoresItsSeed,
    IgnoresWeights,
    ImpossibleSample,
    LeastProbable,
    LosesABit,
    LossyForget,
    MeanOfMeans,
    NanForConstants,
    NanForMissing,
    NanForUnseen,
    NeverConverged,
    NeverWarns,
    NoConstant,
    NoNames,
    NotAdditive,
    Remembers,
    ReplacesItsSeed,
    SampleOfTheWrongShape,
    ScoreIsTotal,
    SeesOnePart,
    Silent,
    SumTooHigh,
    TakesInf,
    TakesNothing,
    ThreadsMatter,
    TraceFalls,
    WritesToX,
)

from latently.checks import LAWS, check_estimator, discover, estimator_checks
from latently.checks.distributions.case import LAWS as DISTRIBUTION_LAWS


def broken(estimator) -> dict[str, str]:
    found = {}
    for name, check in estimator_checks(estimator):
        try:
            check()
        except SkipTest:
            pass
        except Exception as problem:
            found[name] = f"{type(problem).__name__}: {problem}"
    return found


@pytest.mark.parametrize("model", [BallMixture(), RunningMean()], ids=repr)
def test_the_right_models_keep_every_law(model):
    assert broken(model) == {}


def test_laws_bind_by_what_an_estimator_can_do():
    mixture = {name for name, _ in estimator_checks(BallMixture())}
    running = {name for name, _ in estimator_checks(RunningMean())}
    assert {"law_density_integrates_to_one", "law_statistics_add"} <= mixture - running
    assert {"law_forget_undoes_partial_fit", "law_merge_equals_fit_on_both"} <= running - mixture


WRONG = {
    SumTooHigh: "law_probabilities_sum_to_one",
    LeastProbable: "law_predict_is_the_most_probable",
    ScoreIsTotal: "law_score_is_the_mean_of_score_samples",
    NoConstant: "law_density_integrates_to_one",
    SampleOfTheWrongShape: "law_samples_are_possible",
    ImpossibleSample: "law_samples_are_possible",
    IgnoresWeights: "law_weights_equal_repeats",
    DoublesWeights: "law_weights_of_one_change_nothing",
    FirstRowCounts: "law_row_order_does_not_matter",
    ThreadsMatter: "law_threads_change_nothing",
    SeesOnePart: "law_dask_gives_the_same",
    NotAdditive: "law_statistics_add",
    BoundTooHigh: "law_bound_is_a_bound",
    TraceFalls: "law_trace_never_falls",
    AlwaysConverged: "law_converged_is_honest",
    NeverConverged: "law_converged_is_honest",
    WritesToX: "law_fit_changes_nothing_it_was_given",
    ReplacesItsSeed: "law_fit_changes_nothing_it_was_given",
    IgnoresItsSeed: "law_fit_can_be_repeated",
    Remembers: "law_fit_can_be_repeated",
    CloneRemembers: "law_clone_keeps_parameters",
    HasNan: "law_fitted_numbers_are_numbers",
    LosesABit: "law_saved_and_loaded_is_the_same",
    Silent: "law_a_column_of_nan_is_handled_or_named",
    NanForMissing: "law_missing_values_are_handled_or_named",
    TakesInf: "law_inf_is_refused",
    TakesNothing: "law_an_empty_table_is_refused",
    NanForConstants: "law_a_constant_column_is_handled_or_named",
    HalfPrecision: "law_far_from_zero_is_as_good_as_near",
    NoNames: "law_pandas_frames_equal_arrays",
    FramesDiffer: "law_polars_frames_equal_arrays",
    ForgetsStrangers: "law_forget_refuses_what_was_never_learnt",
    NeverWarns: "law_running_out_of_iterations_is_told",
    LossyForget: "law_forget_undoes_partial_fit",
    MeanOfMeans: "law_merge_equals_fit_on_both",
    NanForUnseen: "law_unseen_categories_are_handled_or_named",
}
BOTH_WAYS = {
    NanForConstants: ("law_a_constant_table_is_handled_or_refused", "law_one_row_is_handled_or_refused"),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("wrong", "name"), WRONG.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_each_law_catches_a_model_that_breaks_it(wrong, name):
    checks = dict(estimator_checks(wrong()))
    with pytest.raises(AssertionError):
        checks[name]()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BOTH_WAYS[NanForConstants])
def test_degenerate_tables_are_looked_at(name):
    with pytest.raises((AssertionError, ValueError)):
        dict(estimator_checks(NanForConstants(1)))[name]()


def test_every_law_has_a_model_that_breaks_it():
    covered = {*WRONG.values(), *(name for names in BOTH_WAYS.values() for name in names)}
    assert {law.name for law in LAWS} == covered


def test_every_law_is_stated_in_the_documentation():
    page = Path(__file__).parents[2] / "docs" / "checks.md"
    listed = dict(re.findall(r"^\| `(law_\w+)` \| (.+?) \|$", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {law.name: law.text for law in (*LAWS, *DISTRIBUTION_LAWS)}


# running


def test_check_estimator_lists_all_that_is_broken():
    with pytest.raises(AssertionError, match=r"breaks \d+ laws:\n.*law_score_is_the_mean.*: AssertionError: score is"):
        check_estimator(ScoreIsTotal())


def test_check_estimator_tells_what_is_kept():
    kept = check_estimator(RunningMean())
    assert "law_forget_undoes_partial_fit" in kept
    assert "law_trace_never_falls" not in kept


def test_an_expected_failure_is_no_failure():
    listed = dict.fromkeys(broken(ScoreIsTotal()), "the total is what is wanted here")
    assert listed
    assert "law_probabilities_sum_to_one" in check_estimator(ScoreIsTotal(), listed)


class Honest(ScoreIsTotal):
    def _expected_failed_checks(self):
        return {"law_score_is_the_mean_of_score_samples": "the total is what is wanted here"}


def test_a_model_can_say_itself_what_it_breaks():
    assert "law_score_is_the_mean_of_score_samples" not in check_estimator(Honest())
    with pytest.raises(AssertionError, match="law_score_is_the_mean"):
        check_estimator(Honest(), expected_failed_checks={})


def test_an_expected_failure_that_does_not_happen_is_one():
    with pytest.raises(AssertionError, match="law_clone_keeps_parameters: is kept, although"):
        check_estimator(RunningMean(), {"law_clone_keeps_parameters": "no reason"})


def test_a_class_that_cannot_be_saved_is_skipped_unless_it_is_ours():
    checks = dict(estimator_checks(CategoricalNB()))
    with pytest.raises(SkipTest, match="CategoricalNB"):
        checks["law_saved_and_loaded_is_the_same"]()


def test_a_law_says_when_a_library_is_absent(monkeypatch):
    from latently.checks import inputs

    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(inputs.importlib, "import_module", absent)
    with pytest.raises(SkipTest, match="polars is not installed"):
        dict(estimator_checks(BallMixture()))["law_polars_frames_equal_arrays"]()


# discovery


def test_a_room_whose_dependency_is_absent_is_left_out(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(discover.importlib, "import_module", absent)
    assert discover._imported("latently.neural") is None


def test_a_broken_room_is_not_left_out(monkeypatch):
    def broken_room(name):
        raise ModuleNotFoundError("No module named 'latently.cluster.nothing'", name="latently.cluster.nothing")

    monkeypatch.setattr(discover.importlib, "import_module", broken_room)
    with pytest.raises(ModuleNotFoundError):
        discover._imported("latently.cluster")


def test_public_estimators_are_found_and_nothing_else(monkeypatch):
    from types import SimpleNamespace

    package = SimpleNamespace(
        __all__=["BallMixture", "helper", "Balls"], BallMixture=BallMixture, helper=len, Balls=Balls
    )
    hidden = SimpleNamespace(RunningMean=RunningMean)
    monkeypatch.setattr(discover, "_packages", lambda: [package, hidden])
    assert discover.all_estimators() == [("BallMixture", BallMixture)]
