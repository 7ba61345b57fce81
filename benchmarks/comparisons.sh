#!/bin/sh
# The tables of docs/results.md that had one seed or two, made with regard compare: for a GPU, from a folder that has
# multi30k and the other corpora (or REGARD_DATA). Killed, each goes on when it is started again. Further words go to
# every comparison:
#
#     sh benchmarks/comparisons.sh --jobs 4 --seeds 3
#     sh benchmarks/comparisons.sh --until decided --most-seeds 10 --jobs 4
set -e

regard compare multi30k-luong --vary model.attention=global,local-m,local-p --vary model.score=dot,general,concat,location --out runs/compare-luong "$@"
regard compare multi30k-ablation --vary model.heads=1,2,4,8,16 --out runs/compare-heads "$@"
regard compare multi30k-ablation --vary model.positions=sinusoidal,learned,rotary,none --out runs/compare-positions "$@"
regard compare multi30k-ablation --vary model.encoder_attention.score=scaled-dot,additive,cosine --out runs/compare-encoder-scores "$@"
regard compare multi30k-en-de --vary model.cross_attention.score=scaled-dot,additive,cosine --out runs/compare-cross-scores "$@"
regard compare zh-en --vary model.attention.score=additive,bilinear --vary model.attention.normalize=softmax,sparsemax --out runs/compare-zh-en "$@"
regard compare mr --vary model.attention.score=scaled-dot,additive,cosine --vary model.attention.normalize=softmax,sparsemax --out runs/compare-mr "$@"
regard compare imdb --vary model.attention.score=scaled-dot,additive,cosine --out runs/compare-imdb "$@"
regard compare tag-en --vary model.cell=elman,gru,lstm --vary model.characters=null,64 --out runs/compare-tag-en "$@"
regard compare masked-language --vary model.attention.score=scaled-dot,additive,cosine --out runs/compare-masked "$@"
regard compare char-language --vary model.attention.score=scaled-dot,additive,cosine --out runs/compare-char-language "$@"
