"""Tables in memory: the one border to dataframes, checked float matrices, Arrow columns."""
