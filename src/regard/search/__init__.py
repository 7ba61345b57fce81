"""Greedy, beam, sampling, ensembles: one search for every decoder.

found = search(model.decoder, model.encode(source, mask), Search(beam=5, nbest=3, attention=True))
found[0][0].tokens, found[0][0].score, found[0][0].attention     # the best of the first sentence
"""

from __future__ import annotations

from regard.search.beam import search
from regard.search.ensemble import Ensemble, EnsembleDecoder, EnsembleEncoded
from regard.search.hypothesis import Hypothesis
from regard.search.search_tree import TreeNode, search_trees
from regard.search.settings import Search
from regard.search.target_scores import score
from regard.search.unknown import replace_unknown

__all__ = [
    "Ensemble",
    "EnsembleDecoder",
    "EnsembleEncoded",
    "Hypothesis",
    "Search",
    "TreeNode",
    "replace_unknown",
    "score",
    "search",
    "search_trees",
]
