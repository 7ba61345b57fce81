"""Models that read a text sentence by sentence, and translate it as a whole."""
