"""What a page tells to do, as a program: its model, its readers, its one lowering to a graph."""
