#!/usr/bin/env bash
# oclgrind.sh BIN_DIR [SOURCE_DIR]: `concord check` on Oclgrind's simulated device at small sizes, which fails on data races between
# work-items, barriers that not all of them reach and accesses outside a buffer, and on wrong results. Both shapes of the
# OpenCL kernels run: many work-items per group and one. A data race is planted as well, which must be found. Ends with 77, which
# ctest shows as skipped, where there is no oclgrind.
# (Not asked for is --uninitialized: Oclgrind does not see what the host writes to mapped memory, and reports it all.)
set -u
export LC_ALL=C

bin=$(cd -- "${1:?usage: oclgrind.sh BIN_DIR [SOURCE_DIR]}" && pwd -P) || exit 2
source=$(cd -- "${2:-$(dirname -- "${BASH_SOURCE[0]}")/..}" && pwd -P) || exit 2
# The program opens the ICD loader itself, past what `oclgrind PROGRAM` preloads: so the device comes as a driver.
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

# NAME LANES ARGUMENTS...: a check; one pattern of sums and one of products will do.
check() {
    CONCORD_OPENCL_ITEMS=$2 oclgrind --data-races --max-errors 8 --log "$work/$1.found" \
        "$bin/concord" check "${@:3}" --devices opencl --patterns random,near_one >"$work/$1.last" 2>&1 </dev/null
    echo "status $?" >>"$work/$1.last"
    cat "$work/$1.last" >>"$work/$1.log"
    cat "$work/$1.found" >>"$work/$1.errors"
}
# Broken rows, several groups; then several levels of the canonical order. A histogram of u8 has few enough bins.
all_checks() {
    check "$1" "$1" --types u8 --sizes 129
    check "$1" "$1" map reduce scan compact --types f32 --sizes 1025
    check "$1" "$1" stencil --types f32 --sizes 70
    check "$1" "$1" reduce --variants fixed --types f32 --sizes 9001
    check "$1" "$1" matmul --variants packed,register_tiled,blocks_tiled,tiled --types f32 --sizes 129
}
# Without its barrier, work-items read what others have just written.
text=algorithms/reduce/reduce_steps.cl
mkdir "$work/kernels"
sed '/^static inline T meet_halves(/,/^}/{ /barrier(/d }' "$source/$text" >"$work/kernels/${text##*/}" || exit 2
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
