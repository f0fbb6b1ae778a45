"""The list of tickets: `conditions` (what a query means in SQL), `pages`, `facets` (counts)."""
