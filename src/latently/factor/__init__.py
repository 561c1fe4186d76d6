"""Linear factors: data written as few hidden causes."""

from latently.factor.ica.fastica import FastICA
from latently.factor.ica.infomax import InfoMax
from latently.factor.ica.jade import JADE
from latently.factor.ica.tdsep import TDSEP
from latently.factor.ica.uncertainty import ICAUncertainty, ica_uncertainty
from latently.factor.sparse.dictionary_learning import DictionaryLearning

__all__ = ["JADE", "TDSEP", "DictionaryLearning", "FastICA", "ICAUncertainty", "InfoMax", "ica_uncertainty"]
