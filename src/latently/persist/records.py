"""Names of private records in files. A name stays when code moves; when the fields change, its number rises.

A model is saved under its public name (`latently.cluster.GaussianMixture`); the records inside it, which have none,
under a name from this table.
"""

RECORDS = {
    # components of mixtures
    "gaussian-frame/1": "latently.cluster.gaussian_params:Frame",
    "gaussian-params/1": "latently.cluster.gaussian_params:GaussianParams",
    "gaussian-moments/1": "latently.cluster.gaussian_stats:GaussianMoments",
    "numeric-params/1": "latently.cluster.mixture_numeric:Normals",
    "numeric-moments/1": "latently.cluster.mixture_numeric:NormalSums",
    "numeric-prior/1": "latently.cluster.mixture_numeric:NormalPrior",
    "numeric-block/1": "latently.cluster.mixture_numeric:NumericBlock",
    "full-params/1": "latently.cluster.mixture_full_limits:FullNormals",
    "full-moments/1": "latently.cluster.mixture_full:FullSums",
    "full-prior/1": "latently.cluster.mixture_full:FullPrior",
    "full-block/1": "latently.cluster.mixture_full:FullBlock",
    "full-constraints/1": "latently.cluster.mixture_full_limits:FullLimits",
    "gaussian-limits/1": "latently.cluster.gaussian_bounded:Limits",
    "binary-block/1": "latently.cluster.mixture_binary:BinaryBlock",
    "category-block/1": "latently.cluster.mixture_categories:CategoryBlock",
    "count-block/1": "latently.cluster.mixture_counts:CountBlock",
    "discrete-params/1": "latently.cluster.mixture_discrete:Values",
    "discrete-counts/1": "latently.cluster.mixture_discrete:Tally",
    "family-block/1": "latently.cluster.mixture_family:FamilyBlock",
    "family-params/1": "latently.cluster.mixture_family:Members",
    "family-statistics/1": "latently.cluster.mixture_family:MemberSums",
    "constraint/1": "latently.cluster.mixture_limits:Allowed",
    "weight-constraint/1": "latently.cluster.mixture_limits:WeightLimits",
    # mixtures over tables
    "mixture-model/1": "latently.cluster.mixture_model:MixtureModel",
    "mixture-params/1": "latently.cluster.mixture_model:MixtureParams",
    "mixture-statistics/1": "latently.cluster.mixture_model:MixtureSums",
    # naive Bayes
    "bayes-statistics/1": "latently.predict.statistics:ClassStatistics",
    "bayes-moments/1": "latently.predict.statistics:ClassMoments",
    "bayes-gaussian-statistics/1": "latently.predict.statistics:GaussianStatistics",
    "bayes-powers/1": "latently.predict.statistics:Powers",
    "bayes-counts/1": "latently.predict.statistics:Counts",
    "bayes-category-counts/1": "latently.predict.statistics:CategoryCounts",
    "bayes-side/1": "latently.predict.statistics:Side",
    "bayes-gaussians/1": "latently.predict.gaussians:Gaussians",
    "bayes-gaussian-columns/1": "latently.predict.blocks:GaussianColumns",
    "bayes-count-columns/1": "latently.predict.blocks:CountColumns",
    "bayes-rates/1": "latently.predict.blocks:Rates",
    "bayes-category-columns/1": "latently.predict.blocks:CategoryColumns",
    "bayes-tables/1": "latently.predict.blocks:Tables",
    "bayes-family-column/1": "latently.predict.blocks:FamilyColumn",
    "bayes-families/1": "latently.predict.blocks:Families",
    "bayes-family-statistics/1": "latently.predict.blocks:FamilyStatistics",
    "bayes-lookup/1": "latently.predict.categorical_nb:Lookup",
    "bayes-coefficients/1": "latently.predict.multinomial_nb:Coefficients",
    # regression
    "regression-statistics/1": "latently.predict.regression_sums:RegressionStatistics",
    # sequences
    "context-counts/1": "latently.sequence.counts:ContextCounts",
    "input-spread/1": "latently.sequence.inputs_table:Spread",
    "input-units/1": "latently.sequence.inputs_table:Units",
    "input-columns/1": "latently.sequence.inputs_table:Columns",
    # preparation of tables
    "column-curve/1": "latently.data.prepare_columns:Curve",
    "column-step/1": "latently.data.prepare_columns:NumericStep",
    "row-judge/1": "latently.data.prepare_rows:RowJudge",
}
