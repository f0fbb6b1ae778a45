"""Formats that know only looks (DOCX, PDF): their blocks, and the Markdown made of them."""
