"""Prediction: naive Bayes for any table, Bayesian linear regression."""

from latently.predict.bernoulli_nb import BernoulliNB
from latently.predict.categorical_nb import CategoricalNB
from latently.predict.gaussian_nb import GaussianNB
from latently.predict.linear_regression import BayesianLinearRegression
from latently.predict.multinomial_nb import MultinomialNB
from latently.predict.naive_bayes import NaiveBayes

__all__ = [
    "BayesianLinearRegression",
    "BernoulliNB",
    "CategoricalNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]
