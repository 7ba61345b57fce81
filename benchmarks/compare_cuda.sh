#!/bin/sh
# regard compare on one GPU, on data that comes with regard: several trainings at once, the same result twice, and
# again after a SIGKILL in the middle. About two minutes; needs no network.
#
#     sh benchmarks/compare_cuda.sh [FOLDER]       # runs/compare-cuda if not given, which must not exist yet; DEVICE=cpu without a GPU
#
# It ends with "all is well", or with what is not.
set -eu
out=${1:-runs/compare-cuda}
python=${PYTHON:-python} device=${DEVICE:-cuda}
[ ! -e "$out" ] || { echo "$out is there already" >&2; exit 2; }
mkdir -p "$out"

compare() { # NAME, further words
    name=$1; shift
    "$python" -m regard compare mr --device "$device" trainer.deterministic=true model.size=64 model.heads=4 model.layers=2 \
        model.inner=128 training.steps=200 training.checkpoint_every=50 training.optimizer.lr=1e-3 \
        --vary model.attention.score=scaled-dot,additive --out "$out/$name" "$@"
}
timed() { # what, command …
    what=$1; shift
    begun=$(date +%s); "$@" > "$out/$what.txt" 2> "$out/$what.log" || { tail -n 20 "$out/$what.log" >&2; exit 1; }
    echo "$what: $(($(date +%s) - begun)) s"
}

timed 4-at-once compare whole --seeds 2 --jobs 4       # eight trainings share the GPU
cat "$out/4-at-once.txt"
timed once-more compare again --seeds 1 --jobs 4       # the same seed, and so the same scores

compare killed --seeds 1 --jobs 4 > "$out/killed.txt" 2> "$out/killed.log" &
process=$!
while kill -0 $process 2> /dev/null && ! ls -d "$out"/killed/*/seed-1/checkpoints/step-* > /dev/null 2>&1; do sleep 0.1; done
kill -KILL $process 2> /dev/null || true
wait $process 2> /dev/null || true
sleep 10                                               # its trainings are told, save and end
timed resumed compare killed --seeds 1 --jobs 4

"$python" - "$out" <<'END'
import json
import sys
from pathlib import Path

out = Path(sys.argv[1])


def first_seed(name):
    read = json.loads((out / name / "compare.json").read_text("utf-8"))
    return {variant["name"]: variant["seeds"]["1"]["counts"] for variant in read["variants"]}


def costs(name):
    read = json.loads((out / name / "compare.json").read_text("utf-8"))
    return {variant["name"]: variant["cost"] for variant in read["variants"]}


whole = first_seed("whole")
wrong = [name for name in ("again", "killed") if first_seed(name) != whole]
devices = {
    line
    for log in out.glob("whole/*/seed-*/train.log")
    for line in log.read_text("utf-8").splitlines()
    if "cuda" in line.lower()
}
print("\n".join(sorted(devices)[:2]))
print("peak memory of a training:", {name: f"{c['memory'] / 2**20:.0f} MB" for name, c in costs("whole").items()})
if wrong:
    sys.exit(f"not the same scores as without a break or as the first time: {', '.join(wrong)}")
print("all is well")
END
