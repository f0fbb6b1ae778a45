"""`bench acceptance`: would an on-call engineer follow what is shown? Texts for blind readers."""
