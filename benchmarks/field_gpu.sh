#!/bin/sh
# What the systems of texts, places and words learn in minutes of one GPU, many trainings side by side, and their tables.
#
#     REGARD_DATA=FOLDER sh benchmarks/field_gpu.sh OUT [SECONDS]                  # 560 seconds, the most valuable parts first
#     PARTS="summaries embed" REGARD_DATA=FOLDER sh benchmarks/field_gpu.sh OUT    # some: visits quatrains documents joint summaries luong one-to-many embed
#
# FOLDER has checkins-nyc, debian-ddtp, multi30k, debian-synopsis, emoji-captions, imdb, word-similarity and ud-english-ewt. PYTHON=… for
# another interpreter, AT_ONCE=16 for fewer processes, WORK=… for a folder whose runs are kept. OUT gets the plan, the log, a table for each
# script of experiments, and what was measured of every run. It needs no network.
set -u
out=${1:?a folder for what is found} seconds=${2:-560} python=${PYTHON:-python3}
work=${WORK:-$(mktemp -d)} at_once=${AT_ONCE:-20} given=${REGARD_DATA:?the folder of the corpora}
began=$(date +%s)
mkdir -p "$out" "$work/runs" "$work/data"
out=$(cd "$out" && pwd) work=$(cd "$work" && pwd)

export PYTHONPATH="$(pwd)/src:$(pwd)/benchmarks:${PYTHONPATH:-}" PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TOKENIZERS_PARALLELISM=false

ln -sfn "$given"/* "$work/data/" # what is made of them stands beside them
export REGARD_DATA="$work/data"
"$python" -m experiment_parts.field_plan "$work/runs" ${PARTS:-} --corpora | sed "s|^python|'$python'|" | sh >"$out/corpora.log" 2>&1
"$python" -m experiment_parts.field_plan "$work/runs" ${PARTS:-} >"$out/plan.tsv" || exit 1

spent=$(($(date +%s) - began))
"$python" benchmarks/side_by_side.py "$work/runs" --seconds $((seconds - spent - 25)) --at-once "$at_once" \
    <"$out/plan.tsv" >"$out/side_by_side.log" 2>&1
tail -n 40 "$out/side_by_side.log"

for tables in visit_ telling_ joint_ summary_ embed_ ''; do
    timeout 20 "$python" "benchmarks/${tables}experiments.py" "$work/runs" >"$out/${tables}tables.md" 2>&1
done
cd "$work/runs" || exit 1
find . -name scores.json -o -name config.json -o -name recipe.yaml -o -name metrics.csv -o -name train.log -o -name '*.log' |
    tar czf "$out/measured.tar.gz" -T -
echo "[$(($(date +%s) - began)) s] done; the runs are in $work/runs, and what asks them for more (documents, verses, ensembles) can ask them there"
