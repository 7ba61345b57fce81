#!/bin/sh
# What a GPU has yet to say of the ways that are on trial (src/regard/attention/kernels/on_trial.py), in 150 s:
#     sh benchmarks/on_trial_cuda.sh FOLDER
# dense.txt: right or wrong, the host's time, the GPU's beside SDPA; regions.txt: regions beside FlexAttention.
export PYTHONPATH="$PWD/src" PYTHONUNBUFFERED=1
folder=${1:-${OUT:-.}}
python=${PYTHON:-python}
timeout 80 "$python" benchmarks/dense_cuda.py --ways --seconds 0.05 --lengths 512 1024 2048 4096 8192 32768 \
  2>&1 | tee "$folder/dense.txt"
REGARD_ON_TRIAL=direct-launch timeout 70 "$python" benchmarks/regions_fused_cuda.py --only time --processes 15 --cases \
  'window(64):8192:bfloat16' 'window(64):32768:bfloat16' 'window(64):65536:bfloat16' \
  'window(1024) & causal:8192:bfloat16' 'window(1024) & causal:32768:bfloat16' \
  '(first(4) | window(256)) & causal:32768:bfloat16' 'documents:32768:bfloat16' \
  'documents & causal:8192:bfloat16' 'prefix:8192:bfloat16' 'atrous(8):4096:bfloat16' \
  'atrous(8):8192:bfloat16' 'sparse(64):4096:bfloat16' 'sparse(64):8192:bfloat16' \
  'atrous(8):8192:float32' 'sparse(64):8192:float32' 2>&1 | tee "$folder/regions.txt"
