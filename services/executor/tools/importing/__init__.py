"""Catalogue entries made of what others say of their tools; a team reads them before they count."""
