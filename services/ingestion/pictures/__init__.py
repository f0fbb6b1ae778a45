"""Pictures of pages: loaded with the page, kept beside it, removed with it."""
