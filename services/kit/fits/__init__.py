"""Numbers fitted on data: those shipped, those of a platform, and trees among them."""
