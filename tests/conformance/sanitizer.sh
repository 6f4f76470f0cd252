#!/usr/bin/env bash
# sanitizer.sh BIN_DIR [SOURCE_DIR] [TOOL...] [-- ALGORITHM...]: runs `concord check` of each ALGORITHM (default: all)
# at small sizes on the first CUDA device under compute-sanitizer, which is part of the CUDA toolkit, with each TOOL
# (default: memcheck, racecheck, initcheck, synccheck). Prints a line per tool and its findings. Racecheck must also
# find a data race that the test plants in a kernel of SOURCE_DIR (default: the checkout of this script).
# COMPUTE_SANITIZER names the program if it is not in a usual place. Ends with 77, which ctest shows as skipped, without
# the program or without a GPU.
set -u
export LC_ALL=C

usage="usage: sanitizer.sh BIN_DIR [SOURCE_DIR] [TOOL...] [-- ALGORITHM...]"
bin=$(cd -- "${1:?$usage}" && pwd -P) || exit 2
shift
source=$(dirname -- "${BASH_SOURCE[0]}")/../..
if [[ ${1:-} == */* || -d ${1:-} ]]; then
    source=$1
    shift
fi
source=$(cd -- "$source" && pwd -P) || exit 2
tools=()
while [[ $# -gt 0 && $1 != -- ]]; do
    tools+=("$1")
    shift
done
algorithms=("${@:2}")
[[ ${#tools[@]} -gt 0 ]] || tools=(memcheck racecheck initcheck synccheck)

sanitizer=${COMPUTE_SANITIZER:-$(command -v compute-sanitizer)}
for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /opt/cuda; do
    [[ $folder && -z $sanitizer && -x $folder/bin/compute-sanitizer ]] && sanitizer=$folder/bin/compute-sanitizer
done
if [[ -z $sanitizer ]]; then
    echo "sanitizer.sh: compute-sanitizer is not installed; the CUDA toolkit contains it"
    exit 77
fi
unset CONCORD_DEVICE CONCORD_KERNELS
device=$("$bin/concord" devices 2>/dev/null | awk '$1 ~ /^cuda:/ { print $1; exit }')
if [[ -z $device ]]; then
    echo "sanitizer.sh: there is no CUDA device"
    exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
log=$work/log

# TOOL ARGUMENTS...: a check under the tool, into the log. The status is the sanitizer's.
check() {
    "$sanitizer" --tool "$1" --error-exitcode 86 "$bin/concord" check "${@:2}" --devices "$device" \
        --patterns random,near_one --jobs 1 >"$log" 2>&1 </dev/null
}

# Racecheck must be able to find a race: without this barrier, work-items read what others are writing.
find_planted_race() {
    local text=algorithms/reduce/reduce_steps.kernel
    mkdir "$work/kernels"
    sed '/^INLINED T meet_halves(/,/^}/{ /local_barrier()/d }' "$source/$text" >"$work/kernels/${text##*/}" || exit 2
    if cmp -s "$source/$text" "$work/kernels/${text##*/}"; then
        echo "FAILED  no race could be planted: meet_halves in $text has no barrier"
        failed=1
        return
    fi
    CONCORD_KERNELS=$work/kernels check racecheck reduce --variants sequential --types u32 --sizes 1025
    local status=$?
    if [[ $status != 0 ]] && grep -qiE '^=+ +(error|warning): +race reported' "$log"; then
        echo "passed  racecheck found a planted race:$(grep -E -m 1 '^=+ +RACECHECK SUMMARY' "$log" | tr -d =)"
    else
        echo "FAILED  the planted race was not found: status $status"
        tail -n 40 "$log"
        failed=1
    fi
}

failed=0
for tool in "${tools[@]}"; do
    check "$tool" "${algorithms[@]}" --types f32,u8,f64 --sizes 1,129,1025,9001
    status=$?
    if [[ $status == 0 ]]; then
        echo "passed  $tool on $device: $(grep '^check:' "$log")"
    else
        echo "FAILED  $tool on $device: status $status"
        grep -E '^=========|^FAILED' "$log" | head -n 40
        failed=1
    fi
    [[ $tool != racecheck ]] || find_planted_race
done
exit $failed
