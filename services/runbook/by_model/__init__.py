"""Reading of a page by a language model, which sees all of it with its lines numbered."""
