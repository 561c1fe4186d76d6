"""Names of private records in files. A name stays when code moves; when the fields change, its number rises.

A model is saved under its public name (`latently.cluster.GaussianMixture`); the records inside it, which have none,
under a name from this table.
"""

RECORDS = {
    # statistics of families
    "count-histogram/1": "latently.distributions.families.negative_binomial:Histogram",
    # components of mixtures
    "gaussian-frame/1": "latently.distributions.components.gaussian.frame:Frame",
    "gaussian-params/1": "latently.distributions.components.gaussian.params:GaussianParams",
    "gaussian-prior/1": "latently.distributions.components.gaussian.prior:GaussianPrior",
    "gaussian-moments/1": "latently.distributions.components.gaussian.moments:GaussianMoments",
    "numeric-block/1": "latently.distributions.components.numeric:NumericBlock",
    "full-block/1": "latently.distributions.components.full:FullBlock",
    "full-constraints/1": "latently.distributions.components.full_constraints:FullLimits",
    "gaussian-limits/1": "latently.distributions.components.gaussian.limits.bounded:Limits",
    "binary-block/1": "latently.distributions.components.binary:BinaryBlock",
    "category-block/1": "latently.distributions.components.categories:CategoryBlock",
    "count-block/1": "latently.distributions.components.counts:CountBlock",
    "discrete-params/1": "latently.distributions.components.discrete:Values",
    "discrete-counts/1": "latently.distributions.components.discrete:Tally",
    "family-block/1": "latently.distributions.components.family:FamilyBlock",
    "family-params/1": "latently.distributions.components.family_answers:Members",
    "family-statistics/1": "latently.distributions.components.family:MemberSums",
    "constraint/1": "latently.distributions.components.constraints:Allowed",
    "weight-constraint/1": "latently.distributions.components.constraints:WeightLimits",
    # mixtures over tables
    "mixture-model/1": "latently.cluster.mixture.model:MixtureModel",
    "mixture-params/1": "latently.cluster.mixture.model:MixtureParams",
    "mixture-statistics/1": "latently.cluster.mixture.model:MixtureSums",
    # naive Bayes
    "bayes-statistics/1": "latently.predict.statistics:ClassStatistics",
    "bayes-gaussian-statistics/2": "latently.predict.statistics:GaussianStatistics",
    "value-fingerprint/1": "latently.predict.fingerprint:Fingerprint",
    "bayes-powers/1": "latently.predict.statistics:Powers",
    "bayes-counts/1": "latently.predict.statistics:Counts",
    "bayes-category-counts/1": "latently.predict.statistics:CategoryCounts",
    "bayes-side/1": "latently.predict.statistics:Side",
    "bayes-gaussians/1": "latently.predict.bayes.gaussians:Gaussians",
    "bayes-gaussian-columns/1": "latently.predict.bayes.blocks:GaussianColumns",
    "bayes-count-columns/1": "latently.predict.bayes.blocks:CountColumns",
    "bayes-category-columns/1": "latently.predict.bayes.blocks:CategoryColumns",
    "bayes-tables/1": "latently.predict.bayes.blocks:Tables",
    "bayes-family-column/1": "latently.predict.bayes.blocks:FamilyColumn",
    "bayes-components/1": "latently.predict.bayes.blocks:Fitted",
    "bayes-family-statistics/1": "latently.predict.bayes.blocks:FamilyStatistics",
    "bayes-lookup/1": "latently.predict.bayes.categorical_nb:Lookup",
    "bayes-coefficients/1": "latently.predict.bayes.multinomial_nb:Coefficients",
    # regression
    "regression-statistics/2": "latently.predict.linear.sums:RegressionStatistics",
    # dictionaries
    "dictionary-sums/1": "latently.factor.sparse.atoms:CodeSums",
    # trees
    "tree-nodes/1": "latently.predict.tree.model.nodes:Nodes",
    "tree-leaf-targets/1": "latently.predict.tree.model.leaf_targets:LeafTargets",
    "tree-linear-leaves/1": "latently.predict.tree.m5:LinearLeaves",
    # sequences
    "gaussian-mixture-moments/1": "latently.distributions.components.gaussian.mixtures:MixtureMoments",
    "hmm-statistics/1": "latently.sequence.model.hmm:HmmStatistics",
    "context-counts/1": "latently.sequence.markov.counts:ContextCounts",
    "input-spread/1": "latently.sequence.inputs.table:Spread",
    "input-units/1": "latently.sequence.inputs.table:Units",
    "input-columns/1": "latently.sequence.inputs.table:Columns",
    # Gram matrices
    "gram-centring/1": "latently.kernel.gram.centring:Centring",
    "gram-spectrum/1": "latently.kernel.gram.eigen:Spectrum",
    "gram-cholesky/1": "latently.kernel.gram.cholesky:IncompleteCholesky",
    "gram-nystroem/1": "latently.kernel.gram.nystroem:Nystroem",
    "kernel-expansion/1": "latently.kernel.gram.expansion:Expansion",
    "fisher-kernel/1": "latently.kernel.fisher:FittedFisher",
    "neighbourhoods/1": "latently.embed.neighbourhoods:Neighbourhoods",
    "ridge-pre-images/1": "latently.embed.kernel_pca.pre_images:RidgePreImages",
    "fixed-point-pre-images/1": "latently.embed.kernel_pca.pre_images:FixedPointPreImages",
    "relevant-dimension/1": "latently.embed.relevant_dimension:RelevantDimension",
    "sigmoid-kernel/1": "latently.kernel.given:Sigmoid",
    # detectors
    "detector-tails/1": "latently.detect.calibration:Tails",
    "detector-reasons/1": "latently.detect.reasons.predictions:Reasons",
    "detector-powers/1": "latently.detect.reasons.powers:Powers",
    "density-boxes/1": "latently.detect.density.boxes:Boxes",
    # structured output
    "structured-model/1": "latently.structure.models.base:FittedModel",
    "structured-fixed/1": "latently.structure.models.base:Fixed",
    # factors
    "robust-distances/1": "latently.factor.pca.robust:Distances",
    # neural models
    "neural-scaling/1": "latently.neural.inputs:Scaling",
    "neural-labelling/1": "latently.neural.energy.labels:Labelling",
    "neural-gaussianization/1": "latently.neural.flows.gaussianization:Gaussianization",
    "neural-columns/1": "latently.neural.pretext.columns:MixedColumns",
    # preparation of tables
    "column-curve/1": "latently.prepare.columns:Curve",
    "column-step/1": "latently.prepare.columns:NumericStep",
    "row-judge/1": "latently.prepare.rows:RowJudge",
}

FORMER = {
    # what has become of records of earlier versions: how their fields are read
    "bayes-gaussian-statistics/1": "latently.predict.statistics:former_gaussian_statistics",
    "regression-statistics/1": "latently.predict.linear.sums:former_statistics",
    "numeric-params/1": "latently.distributions.components.gaussian.former:numeric_params",
    "full-params/1": "latently.distributions.components.gaussian.former:full_params",
    "numeric-moments/1": "latently.distributions.components.gaussian.former:moments",
    "full-moments/1": "latently.distributions.components.gaussian.former:moments",
    "bayes-moments/1": "latently.distributions.components.gaussian.former:class_moments",
    "bayes-rates/1": "latently.predict.bayes.blocks:fitted_rates",
    "bayes-families/1": "latently.predict.bayes.blocks:fitted_families",
    "numeric-prior/1": "latently.distributions.components.gaussian.former:prior",
    "full-prior/1": "latently.distributions.components.gaussian.former:prior",
}
