"""Which general checks of estimators sequence models do not pass, and why."""

Y = "the second argument of fit and score is lengths, as in hmmlearn, and not y"
ORDER = "rows depend on the rows before them, and score_samples returns a pair, as in hmmlearn"
WEIGHTS = "sample_weight is for sequences, not for rows"
CODES = "the rows of the check are no codes or counts"

HMM = {
    **dict.fromkeys(
        (
            "check_dict_unchanged",
            "check_dont_overwrite_parameters",
            "check_dtype_object",
            "check_estimators_dtypes",
            "check_estimators_fit_returns_self",
            "check_estimators_overwrite_params",
            "check_estimators_pickle",
            "check_f_contiguous_array_estimator",
            "check_fit2d_1feature",
            "check_fit2d_predict1d",
            "check_fit_check_is_fitted",
            "check_fit_idempotent",
            "check_fit_score_takes_y",
            "check_n_features_in",
            "check_n_features_in_after_fitting",
            "check_pipeline_consistency",
            "check_positive_only_tag_during_fit",
            "check_readonly_memmap_input",
        ),
        Y,
    ),
    "check_methods_sample_order_invariance": ORDER,
    "check_methods_subset_invariance": ORDER,
    **dict.fromkeys(
        (
            "check_all_zero_sample_weights_error",
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weights_list",
            "check_sample_weights_not_an_array",
            "check_sample_weights_not_overwritten",
            "check_sample_weights_pandas_series",
            "check_sample_weights_shape",
        ),
        WEIGHTS,
    ),
}

DISCRETE = {
    **HMM,
    "check_fit2d_1sample": CODES,
    **dict.fromkeys(
        (
            "law_a_column_of_nan_is_handled_or_named",
            "law_a_constant_column_is_handled_or_named",
            "law_clone_keeps_parameters",
            "law_far_from_zero_is_as_good_as_near",
            "law_fit_can_be_repeated",
            "law_fit_changes_nothing_it_was_given",
            "law_fitted_numbers_are_numbers",
            "law_missing_values_are_handled_or_named",
            "law_probabilities_sum_to_one",
            "law_saved_and_loaded_is_the_same",
            "law_trace_never_falls",
        ),
        CODES,
    ),
}

CATEGORICAL = {**DISCRETE, "law_one_row_is_handled_or_refused": CODES}

ANY = {**HMM, "check_fit2d_1sample": "one row has no variance; the error names the column"}

SYMBOLS = "a chain reads symbols of any kind, and has no columns"
CHAIN = {
    **{name: reason for name, reason in HMM.items() if reason is not WEIGHTS},
    **dict.fromkeys(
        (
            "check_complex_data",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
            "check_estimator_sparse_tag",
            "check_estimators_empty_data_messages",
            "check_estimators_nan_inf",
            "check_fit2d_1sample",
            "law_inf_is_refused",
        ),
        SYMBOLS,
    ),
}
