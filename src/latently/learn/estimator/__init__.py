"""The layer between the engine and a scikit-learn style class: input, answers, data that is not in memory."""
