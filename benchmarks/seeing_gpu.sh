#!/bin/sh
# What models that look at pictures learn in minutes of one GPU, many trainings side by side, and their tables.
#
#     REGARD_DATA=FOLDER sh benchmarks/seeing_gpu.sh OUT [SECONDS]     # FOLDER/mnist has the four files of MNIST
#
# PYTHON=… for another interpreter, WHEELS=FOLDER for packages that it lacks, AT_ONCE=16 for fewer processes, ONLY='scenes|icons' for
# some of the runs. OUT gets the tables, the log, and two archives: what was measured of every run, and the weights of some.
# It needs no network.
set -u
out=${1:?a folder for what is found} seconds=${2:-560} python=${PYTHON:-python3}
work=${WORK:-$(mktemp -d)} at_once=${AT_ONCE:-20}
began=$(date +%s)
mkdir -p "$out" "$work/runs"
out=$(cd "$out" && pwd)

path=$(pwd)/src:$(pwd)/benchmarks
if [ -n "${WHEELS:-}" ]; then
    for wheel in "$WHEELS"/*.whl; do "$python" -m zipfile -e "$wheel" "$work/packages"; done
    path=$path:$work/packages
fi
export PYTHONPATH="$path:${PYTHONPATH:-}" PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore PYTHONDONTWRITEBYTECODE=
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TORCHINDUCTOR_COMPILE_THREADS=1 TOKENIZERS_PARALLELISM=false
export TORCHINDUCTOR_CACHE_DIR="$work/inductor" TRITON_CACHE_DIR="$work/triton"

"$python" -m experiment_parts.seeing_plan "$work/runs" | grep -E "/runs/(${ONLY:-.*})" >"$out/plan.tsv" || exit 1
spent=$(($(date +%s) - began))
"$python" benchmarks/side_by_side.py "$work/runs" --seconds $((seconds - spent - 25)) --at-once "$at_once" \
    <"$out/plan.tsv" >"$out/side_by_side.log" 2>&1
tail -n 40 "$out/side_by_side.log"

for tables in seeing draw caption; do
    timeout 20 "$python" "benchmarks/${tables}_experiments.py" "$work/runs" >"$out/$tables.md" 2>&1
done
cd "$work/runs" || exit 1
find . -name scores.json -o -name config.json -o -name recipe.yaml -o -name metrics.csv -o -name train.log \
    -o -name probe.json -o -name questions.json -o -name '*.log' | tar czf "$out/measured.tar.gz" -T -
for run in draw-mnist-windows-1 ram-cluttered-8-1 stn-r-st-cnn-affine-1 scenes-soft-1 ram-mnist-6-1 icons-soft-1; do
    [ -f "$run/model.safetensors" ] && find "$run" -maxdepth 1 -type f ! -name report.html ! -name .lock
done | tar cf "$out/weights.tar" -T -
[ "$(stat -c %s "$out/weights.tar")" -lt 16000000 ] || rm "$out/weights.tar"
echo "[$(($(date +%s) - began)) s] done"
