"""Documents that know only looks: their blocks, and the Markdown that these make."""
