"""Ways to a workflow without a language model."""
