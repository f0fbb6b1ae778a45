"""Catalogue: tools, targets and the policy, as a team writes them down in files."""
