"""A small world in which every fact of a workflow can be decided: the recipes' proof."""
