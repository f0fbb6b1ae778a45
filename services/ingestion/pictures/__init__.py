"""The pictures of pages: taken in with the page, kept beside it, gone with it."""
