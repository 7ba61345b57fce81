#!/bin/sh
# What a GPU has to say in ten minutes, the most valuable first; no part takes more than two and a half.
#
#     git archive OLD src | tar x -C FOLDER                # where git is: an older version to compare with
#     sh benchmarks/gpu_minutes.sh OUT [FOLDER/src]        # PYTHON=… for another interpreter, PARTS="host time" for some
#
# Every part writes a file of OUT line by line: what it has found before its time is over stays there. It needs no network.
set -u
out=${1:?a folder for what is found} old=${2:-} python=${PYTHON:-python3}
parts=${PARTS:-"tests host time regions training search additive"}
ours=$(pwd)/src others=${PYTHONPATH:-}
export PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore TORCHINDUCTOR_COMPILE_THREADS=1
mkdir -p "$out"
began=$(date +%s)

run() { # file, seconds, source folder, command …
    file=$out/$1 limit=$2 path=$3; shift 3
    echo "[$(($(date +%s) - began)) s] $file"
    PYTHONPATH="$path:$others" timeout -s INT -k 5 "$limit" "$python" "$@" >>"$file" 2>&1 || echo "ended by $?" >>"$file"
}
training() { # file, seconds, source folder, way, configurations …
    file=$1 limit=$2 path=$3 way=$4; shift 4
    run "$file" "$limit" "$path" benchmarks/training_cuda.py --batches 8 --steps 6 --seconds 3 --sentences 512 \
        --folder "$out/corpora" --weights "$out/weights" --compile "$way" --only "$@"
}

for part in $parts; do
    case $part in
    tests) # of recorded updates: those of half precision first; the first that fails is told at once
        run tests.txt 55 "$ours" -m pytest -v -x --tb=long -p no:cacheprovider tests/training/test_graphed_update.py \
            -k "OnAGpu and bf16 or OnAGpu and waits or OnAGpu and update_of_before" ;;
    host) # whether our kernels are right, then what a small call costs
        run host.txt 60 "$ours" benchmarks/dense_cuda.py --only check host ;;
    time) # in the order of what is claimed
        run time.txt 90 "$ours" benchmarks/dense_cuda.py --only time --ways --seconds 0.05 --lengths 2048 512 4096 8192 32768 ;;
    regions)
        run regions.txt 150 "$ours" benchmarks/regions_fused_cuda.py --only time --processes 15 --cases \
            'window(64):32768:bfloat16' 'window(1024) & causal:32768:bfloat16' 'sparse(64):8192:bfloat16' \
            'atrous(8):8192:bfloat16' '(first(4) | window(256)) & causal:32768:bfloat16' \
            'documents:32768:bfloat16' 'prefix:8192:bfloat16' 'sparse(64):4096:bfloat16' \
            'atrous(8):4096:bfloat16' 'window(64):8192:bfloat16' 'window(64):65536:bfloat16' \
            'window(1024) & causal:8192:bfloat16' 'documents & causal:8192:bfloat16' \
            'sparse(64):8192:float32' 'atrous(8):8192:float32' ;;
    training)
        [ -z "$old" ] || training before.txt 45 "$old" before rnnsearch luong --no-search
        training graphs.txt 65 "$ours" graphs rnnsearch luong --no-search ;;
    search) # with the weights that the first one learns
        [ -z "$old" ] || training before.txt 40 "$old" before zh-en-transformer
        training graphs.txt 40 "$ours" graphs zh-en-transformer ;;
    additive) # which patch passes 1.6 times the rate of the tanh units
        run additive.txt 30 "$ours" benchmarks/kernels_additive_cuda.py --patches ;;
    *) echo "no part $part" ;;
    esac
done
rm -rf "$out/corpora" "$out/weights"
echo "[$(($(date +%s) - began)) s] done"
