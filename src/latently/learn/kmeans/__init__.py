"""The K-means core: Lloyd iterations with exact bounds, and starts. Other models start from it."""
