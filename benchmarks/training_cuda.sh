#!/bin/sh
# Training and searching on one GPU: an older version, this one without and with recorded work, in turn; then the tests that need a GPU.
# About three minutes and a half; needs no network.
#
#     git archive OLD src | tar x -C FOLDER                     # where git is: the older version
#     sh benchmarks/training_cuda.sh OUT [FOLDER/src]           # EXTRA="--only luong --accelerator cpu" for other options
#
# Tables and numbers are written into OUT. A part that takes too long is left out; what it measured before is there.
set -u
out=$1 old=${2:-} python=${PYTHON:-python3} ours=$(pwd)/src others=${PYTHONPATH:-}
mkdir -p "$out"
prepared=$(mktemp -d)

bench() { # source folder, seconds, further options
    path=$1 seconds=$2; shift 2
    PYTHONPATH="$path:$others" timeout "$seconds" "$python" benchmarks/training_cuda.py --seconds 4 --steps 40 \
        --sentences 384 --folder "$prepared/corpora" --weights "$prepared/weights" ${EXTRA:-} "$@" 2>&1
}
PYTHONPATH="$ours:$others" timeout 60 "$python" -m pytest -q -p no:cacheprovider tests/training/test_graphed_update.py \
    -k OnAGpu 2>&1 | tail -30 | tee "$out/tests.txt"
if [ -n "$old" ]; then
    bench "$old" 80 --compile before --results "$out/before.json" | tee "$out/before.txt"
fi
against=""
[ -s "$out/before.json" ] && against="--against $out/before.json"
bench "$ours" 120 --compile graphs --profile --results "$out/now.json" $against | tee "$out/now.txt"
