"""From what was done about tickets to a workflow that is checked by running it."""
