"""Text → pairs → tokens → batches, and the corpora that come with the package.

spec.py says how a corpus is named, text.py reads it, tokenizer.py learns a vocabulary, store.py
keeps the token ids on disk, batch.py makes the batches. Only batch.py needs torch.
"""
