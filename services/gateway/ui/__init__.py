"""The pages: tickets, one ticket with its workflow, the text of a source."""
