#!/usr/bin/env bash
# oclgrind.sh BIN_DIR [SOURCE_DIR]: runs `concord check` at small sizes on Oclgrind's simulated device. It reports
# data races between work-items, barriers that not all work-items reach, accesses outside a buffer, and wrong results.
# Both forms of the OpenCL kernels run: many work-items per group and one. The test also plants a data race, which
# Oclgrind must find. Ends with 77, which ctest shows as skipped, if Oclgrind is not installed. Without
# --uninitialized: Oclgrind does not see what the host writes to mapped memory and reports all of it.
set -u
export LC_ALL=C

bin=$(cd -- "${1:?usage: oclgrind.sh BIN_DIR [SOURCE_DIR]}" && pwd -P) || exit 2
source=$(cd -- "${2:-$(dirname -- "${BASH_SOURCE[0]}")/../..}" && pwd -P) || exit 2
# The program opens the ICD loader itself, so `oclgrind PROGRAM` has no effect. The device is registered as a driver
# instead.
oclgrind=$(command -v oclgrind) && oclgrind=$(readlink -f "$oclgrind")
driver=
for folder in lib/oclgrind lib lib64; do
    file=${oclgrind%/bin/*}/$folder/liboclgrind-rt-icd.so
    [[ $oclgrind && -z $driver && -e $file ]] && driver=$file
done
if [[ -z $driver ]]; then
    echo "oclgrind.sh: oclgrind is not installed (Debian and Ubuntu: oclgrind)"
    exit 77
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/vendors"
echo "$driver" >"$work/vendors/oclgrind.icd"
export OCL_ICD_VENDORS=$work/vendors CONCORD_CACHE=off
unset OCL_ICD_FILENAMES CONCORD_DEVICE CONCORD_KERNELS

# NAME ITEMS ARGUMENTS...: a check. One pattern of sums and one of products suffice.
check() {
    CONCORD_OPENCL_ITEMS=$2 oclgrind --data-races --max-errors 8 --log "$work/$1.found" \
        "$bin/concord" check "${@:3}" --devices opencl --patterns random,near_one --jobs 1 >"$work/$1.last" 2>&1 </dev/null
    echo "status $?" >>"$work/$1.last"
    cat "$work/$1.last" >>"$work/$1.log"
    cat "$work/$1.found" >>"$work/$1.errors"
}
# Partly filled rows and several groups; then several levels of the canonical order. A histogram of u8 has few bins.
all_checks() {
    check "$1" "$1" --types u8 --sizes 129
    check "$1" "$1" map reduce scan compact --types f32 --sizes 1025
    check "$1" "$1" stencil --types f32 --sizes 70
    check "$1" "$1" reduce --variants fixed --types f32 --sizes 9001
    check "$1" "$1" matmul --variants packed,register_tiled,blocks_tiled,tiled --types f32 --sizes 129
}
# Without this barrier, work-items read what others are writing.
text=algorithms/reduce/reduce_steps.kernel
mkdir "$work/kernels"
sed '/^INLINED T meet_halves(/,/^}/{ /local_barrier()/d }' "$source/$text" >"$work/kernels/${text##*/}" || exit 2
if cmp -s "$source/$text" "$work/kernels/${text##*/}"; then
    echo "FAILED  no race could be planted: meet_halves in $text has no barrier"
    exit 1
fi
planted_check() {
    CONCORD_KERNELS=$work/kernels check planted many reduce --variants sequential --types u32 --sizes 1025
}
for items in many one; do all_checks "$items" & done
planted_check &
wait

failed=0
if grep -q 'data race' "$work/planted.errors"; then
    echo "passed  a planted race was found: $(grep -m 1 'data race' "$work/planted.errors")"
else
    echo "FAILED  the planted race was not found"
    cat "$work/planted.log" "$work/planted.errors"
    failed=1
fi
for items in many one; do
    verdict=$(grep -hE '^check:|^status' "$work/$items.log" | paste -sd '|' | sed 's/|/; /g')
    ended=$(grep -c '^status ' "$work/$items.log")
    if [[ $ended -gt 0 && $(grep -c '^status 0$' "$work/$items.log") == "$ended" && ! -s $work/$items.errors ]]; then
        echo "passed  kernels of $items items: $verdict; no errors"
    else
        echo "FAILED  kernels of $items items: $verdict"
        cat "$work/$items.errors"
        grep -A 2 -E '^FAILED|^concord:' "$work/$items.log"
        failed=1
    fi
done
exit $failed
