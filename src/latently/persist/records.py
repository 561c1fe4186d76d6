"""Names of private records in files. A name stays when code moves; when the fields change, its number rises.

A model is saved under its public name (`latently.cluster.GaussianMixture`); the records inside it, which have none,
under a name from this table.
"""

RECORDS = {
    # components of mixtures
    "gaussian-frame/1": "latently.distributions.components.gaussian.params:Frame",
    "gaussian-params/1": "latently.distributions.components.gaussian.params:GaussianParams",
    "gaussian-moments/1": "latently.distributions.components.gaussian.moments:GaussianMoments",
    "numeric-params/1": "latently.distributions.components.numeric:Normals",
    "numeric-moments/1": "latently.distributions.components.numeric:NormalSums",
    "numeric-prior/1": "latently.distributions.components.numeric:NormalPrior",
    "numeric-block/1": "latently.distributions.components.numeric:NumericBlock",
    "full-params/1": "latently.distributions.components.full_constraints:FullNormals",
    "full-moments/1": "latently.distributions.components.full:FullSums",
    "full-prior/1": "latently.distributions.components.full:FullPrior",
    "full-block/1": "latently.distributions.components.full:FullBlock",
    "full-constraints/1": "latently.distributions.components.full_constraints:FullLimits",
    "gaussian-limits/1": "latently.distributions.components.gaussian.bounded:Limits",
    "binary-block/1": "latently.distributions.components.binary:BinaryBlock",
    "category-block/1": "latently.distributions.components.categories:CategoryBlock",
    "count-block/1": "latently.distributions.components.counts:CountBlock",
    "discrete-params/1": "latently.distributions.components.discrete:Values",
    "discrete-counts/1": "latently.distributions.components.discrete:Tally",
    "family-block/1": "latently.distributions.components.family:FamilyBlock",
    "family-params/1": "latently.distributions.components.family:Members",
    "family-statistics/1": "latently.distributions.components.family:MemberSums",
    "constraint/1": "latently.distributions.components.constraints:Allowed",
    "weight-constraint/1": "latently.distributions.components.constraints:WeightLimits",
    # mixtures over tables
    "mixture-model/1": "latently.cluster.mixture.model:MixtureModel",
    "mixture-params/1": "latently.cluster.mixture.model:MixtureParams",
    "mixture-statistics/1": "latently.cluster.mixture.model:MixtureSums",
    # naive Bayes
    "bayes-statistics/1": "latently.predict.statistics:ClassStatistics",
    "bayes-moments/1": "latently.predict.statistics:ClassMoments",
    "bayes-gaussian-statistics/1": "latently.predict.statistics:GaussianStatistics",
    "bayes-powers/1": "latently.predict.statistics:Powers",
    "bayes-counts/1": "latently.predict.statistics:Counts",
    "bayes-category-counts/1": "latently.predict.statistics:CategoryCounts",
    "bayes-side/1": "latently.predict.statistics:Side",
    "bayes-gaussians/1": "latently.predict.bayes.gaussians:Gaussians",
    "bayes-gaussian-columns/1": "latently.predict.bayes.blocks:GaussianColumns",
    "bayes-count-columns/1": "latently.predict.bayes.blocks:CountColumns",
    "bayes-rates/1": "latently.predict.bayes.blocks:Rates",
    "bayes-category-columns/1": "latently.predict.bayes.blocks:CategoryColumns",
    "bayes-tables/1": "latently.predict.bayes.blocks:Tables",
    "bayes-family-column/1": "latently.predict.bayes.blocks:FamilyColumn",
    "bayes-families/1": "latently.predict.bayes.blocks:Families",
    "bayes-family-statistics/1": "latently.predict.bayes.blocks:FamilyStatistics",
    "bayes-lookup/1": "latently.predict.bayes.categorical_nb:Lookup",
    "bayes-coefficients/1": "latently.predict.bayes.multinomial_nb:Coefficients",
    # regression
    "regression-statistics/1": "latently.predict.linear.sums:RegressionStatistics",
    # trees
    "tree-nodes/1": "latently.predict.tree.model.nodes:Nodes",
    "tree-leaf-targets/1": "latently.predict.tree.model.leaf_targets:LeafTargets",
    "tree-linear-leaves/1": "latently.predict.tree.m5:LinearLeaves",
    # sequences
    "context-counts/1": "latently.sequence.markov.counts:ContextCounts",
    "input-spread/1": "latently.sequence.inputs.table:Spread",
    "input-units/1": "latently.sequence.inputs.table:Units",
    "input-columns/1": "latently.sequence.inputs.table:Columns",
    # preparation of tables
    "column-curve/1": "latently.prepare.columns:Curve",
    "column-step/1": "latently.prepare.columns:NumericStep",
    "row-judge/1": "latently.prepare.rows:RowJudge",
}
