"""Prediction: naive Bayes for any table, Bayesian linear regression, decision trees and random forests."""

from latently.predict.bayes.bernoulli_nb import BernoulliNB
from latently.predict.bayes.categorical_nb import CategoricalNB
from latently.predict.bayes.gaussian_nb import GaussianNB
from latently.predict.bayes.multinomial_nb import MultinomialNB
from latently.predict.bayes.naive_bayes import NaiveBayes
from latently.predict.linear.regression import BayesianLinearRegression
from latently.predict.tree.classifier import DecisionTreeClassifier
from latently.predict.tree.forest.classifier import RandomForestClassifier
from latently.predict.tree.forest.regressor import RandomForestRegressor
from latently.predict.tree.regressor import DecisionTreeRegressor

__all__ = [
    "BayesianLinearRegression",
    "BernoulliNB",
    "CategoricalNB",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
    "RandomForestClassifier",
    "RandomForestRegressor",
]
