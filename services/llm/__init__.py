"""Language models behind one port: what they are asked, what they answer, what may go wrong."""
