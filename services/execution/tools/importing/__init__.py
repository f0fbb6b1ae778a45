"""Import of catalogue entries from descriptions by others; a team reads them before use."""
