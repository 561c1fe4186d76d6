"""Prediction: naive Bayes for any table, Bayesian linear regression."""

from latently.predict.bayes.bernoulli_nb import BernoulliNB
from latently.predict.bayes.categorical_nb import CategoricalNB
from latently.predict.bayes.gaussian_nb import GaussianNB
from latently.predict.bayes.multinomial_nb import MultinomialNB
from latently.predict.bayes.naive_bayes import NaiveBayes
from latently.predict.linear.regression import BayesianLinearRegression

__all__ = [
    "BayesianLinearRegression",
    "BernoulliNB",
    "CategoricalNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]
