"""How good it is: BLEU and chrF, perplexity and accuracy, error rates, confusions, BLEU by length, AER.

bleu(hypotheses, references, tokenize="13a").text
by_length(sources, hypotheses, references, unit="words").rows
aer([align(p.attention, ...) for p in predictions], read_pharaoh("gold.gz", first=1))
"""

from regard.measures.align import align, spans, word_weights
from regard.measures.alignment import Alignment, AlignmentScore, Link, Links, aer
from regard.measures.alignment_files import (
    Inside,
    Outside,
    WordPair,
    from_pharaoh,
    read_jsonl,
    read_numbered,
    read_pairs,
    read_pharaoh,
    to_pharaoh,
    within,
)
from regard.measures.bleu_by_length import Bucket, LengthCurve, LengthRow, by_length
from regard.measures.classification import Confusion
from regard.measures.likelihood import Likelihood
from regard.measures.sequence_error_rate import SequenceErrorRate
from regard.measures.token_error_rate import CharacterErrorRate, TokenErrorRate, WordErrorRate
from regard.measures.translation import TOKENIZERS, BleuScore, MeasuredScore, bleu, chrf

__all__ = [
    "TOKENIZERS",
    "Alignment",
    "AlignmentScore",
    "BleuScore",
    "Bucket",
    "CharacterErrorRate",
    "Confusion",
    "Inside",
    "LengthCurve",
    "LengthRow",
    "Likelihood",
    "Link",
    "Links",
    "MeasuredScore",
    "Outside",
    "SequenceErrorRate",
    "TokenErrorRate",
    "WordErrorRate",
    "WordPair",
    "aer",
    "align",
    "bleu",
    "by_length",
    "chrf",
    "from_pharaoh",
    "read_jsonl",
    "read_numbered",
    "read_pairs",
    "read_pharaoh",
    "spans",
    "to_pharaoh",
    "within",
    "word_weights",
]
