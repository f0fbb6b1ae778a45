"""Teachers of the platform: how many are enough, their bound a day, and what is taken back."""
