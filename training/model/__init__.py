"""A causal model of a local folder: loading, answers, what it finds likely."""
