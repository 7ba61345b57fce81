"""Word alignments learnt by counting: which word of a sentence translates which, without a network."""

from regard.aligners.ibm import METHODS, Method, aligned
from regard.aligners.lexicon import Lexicon
from regard.aligners.symmetry import SYMMETRIES, Symmetry, symmetrised

__all__ = ["METHODS", "SYMMETRIES", "Lexicon", "Method", "Symmetry", "aligned", "symmetrised"]
