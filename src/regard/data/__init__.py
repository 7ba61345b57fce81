"""Files → examples in fields → numbers → batches, and the corpora that come with the package.

spec.py says how a corpus is named, formats/ how files are read, rows.py and examples.py put them together;
fields/ are the columns of an example, store.py keeps their numbers on disk, batch.py makes the batches.
"""
