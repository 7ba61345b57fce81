"""The tokens that every vocabulary begins with."""

PAD, UNK, BOS, EOS = 0, 1, 2, 3
