"""Prediction: naive Bayes for any table, Bayesian linear regression."""

from tacit.predict.bernoulli_nb import BernoulliNB
from tacit.predict.categorical_nb import CategoricalNB
from tacit.predict.gaussian_nb import GaussianNB
from tacit.predict.linear_regression import BayesianLinearRegression
from tacit.predict.multinomial_nb import MultinomialNB
from tacit.predict.naive_bayes import NaiveBayes

__all__ = [
    "BayesianLinearRegression",
    "BernoulliNB",
    "CategoricalNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]
