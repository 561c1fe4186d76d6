"""Which general checks of estimators sequence models do not pass, and why.

Scikit-learn's checks are made on `latently.checks.for_rows(model)`, for which a table is one sequence.
"""

ORDER = "rows depend on the rows before them, and score_samples returns a pair, as in hmmlearn"
WIDTH = "the model reads a single column; of the tables of the check it is given the first"

HMM = {
    "check_methods_sample_order_invariance": ORDER,
    "check_methods_subset_invariance": ORDER,
}
CODES = {
    **HMM,
    "check_n_features_in": WIDTH,
    "check_n_features_in_after_fitting": WIDTH,
    "check_positive_only_tag_during_fit": "the negative numbers of the check are not in the first column",
}
UNSEEN = {**CODES, "law_forget_undoes_partial_fit": "symbols that a batch was without are impossible in the next one"}
CHAIN = {
    "check_n_features_in": WIDTH,
    "check_n_features_in_after_fitting": WIDTH,
    "check_fit1d": "a one-dimensional array is a sequence of symbols",
}
