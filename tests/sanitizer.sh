#!/usr/bin/env bash
# sanitizer.sh BIN_DIR [TOOL...]: `concord check` on the first CUDA device at small sizes under compute-sanitizer (part of
# NVIDIA's CUDA toolkit), with each TOOL: memcheck, racecheck, initcheck and synccheck where none is named. A line a tool;
# what a tool found is printed below it. COMPUTE_SANITIZER names the program if it is in no usual place. Ends with 77,
# which ctest shows as skipped, without it or without a GPU.
set -u
export LC_ALL=C

bin=$(cd -- "${1:?usage: sanitizer.sh BIN_DIR [TOOL...]}" && pwd -P) || exit 2
shift
tools=("$@")
[[ $# -gt 0 ]] || tools=(memcheck racecheck initcheck synccheck)

sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer)}
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
    [[ $folder && -z $sanitizer && -x $folder/bin/compute-sanitizer ]] && sanitizer=$folder/bin/compute-sanitizer
done
if [[ -z $sanitizer ]]; then
    echo "sanitizer.sh: compute-sanitizer is not here; it comes with the CUDA toolkit"
    exit 77
fi
unset CONCORD_DEVICE
device=$("$bin/concord" devices 2>/dev/null | awk '$1 ~ /^cuda:/ { print $1; exit }')
if [[ -z $device ]]; then
    echo "sanitizer.sh: there is no CUDA device"
    exit 77
fi
log=$(mktemp) || exit 2
trap 'rm -f "$log"' EXIT

failed=0
for tool in "${tools[@]}"; do
    "$sanitizer" --tool "$tool" --error-exitcode 86 "$bin/concord" check --devices "$device" --types f32,u8,f64 \
        --sizes 1,129,1025,9001 --patterns random,near_one >"$log" 2>&1 </dev/null
    status=$?
    if [[ $status == 0 ]]; then
        echo "passed  $tool on $device: $(grep '^check:' "$log")"
    else
        echo "FAILED  $tool on $device: status $status"
        grep -E '^=========|^FAILED' "$log" | head -n 40
        failed=1
    fi
done
exit $failed
