"""The page as people wrote it: a tree of blocks, each with its lines, its words and its number."""
