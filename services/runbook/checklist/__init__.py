"""The page itself as a workflow: a step for each of its boxes, and nothing guessed."""
