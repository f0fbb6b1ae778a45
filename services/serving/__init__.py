"""The rooms in processes: all in one, or one in each with the others over HTTP."""
