#!/usr/bin/env bash
# rusticl.sh PROGRAM: `concord check` on rusticl with llvmpipe, Mesa's OpenCL driver on the CPU, as the only OpenCL
# driver. A version that the self-test refuses passes if Concord says why and does not run on it. Ends with 77, which
# ctest shows as skipped, if rusticl is not installed.
set -euo pipefail
program=${1:?usage: rusticl.sh PROGRAM}
unset OCL_ICD_FILENAMES CONCORD_DEVICE CONCORD_OPENCL_ITEMS CONCORD_OPENCL_SELF_TEST

folder=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
driver=$(grep -ls libRusticlOpenCL "$folder"/*.icd | sed -n 1p || true)
if [[ -z $driver ]]; then
    echo "rusticl.sh: not tested: rusticl is not installed (Debian: mesa-opencl-icd)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/vendors"
cp "$driver" "$work/vendors"
export OCL_ICD_VENDORS=$work/vendors RUSTICL_ENABLE=llvmpipe

status=0
"$program" check --devices opencl --types u32,f32 --sizes 1,1025,9001 >"$work/out" 2>"$work/err" || status=$?
grep -v '^MESA: warning' "$work/err" || true
cat "$work/out"
if [[ $status == 3 ]] && grep -q 'failed the self-test of its driver' "$work/err" && [[ ! -s $work/out ]]; then
    echo "refused, as it has to be"
    exit 0
fi
exit "$status"
