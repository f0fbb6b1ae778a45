"""What running a command does: it looks, it changes something, or it destroys."""
