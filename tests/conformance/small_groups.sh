#!/usr/bin/env bash
# small_groups.sh PROGRAM LAYER: `concord check` with one type on OpenCL devices that the layer
# (tests/unit/modules/throwing_layer.cpp) makes GPUs with groups of at most 64 work-items. Ends with 77, which ctest
# shows as skipped, if the ICD loader has no layers.
set -euo pipefail
program=${1:?usage: small_groups.sh PROGRAM LAYER}
export OPENCL_LAYERS=${2:?usage: small_groups.sh PROGRAM LAYER} GROUP_LIMIT=64
unset CONCORD_DEVICE CONCORD_OPENCL_ITEMS

if ! "$program" devices --verbose --json | grep '"maximum group size": "64"' >/dev/null; then
    echo "small_groups.sh: not tested: the OpenCL ICD loader has no layers, or there is no OpenCL device"
    exit 77
fi
report=$(mktemp)
trap 'rm -f "$report"' EXIT
"$program" check --devices opencl --types f32 --sizes 1,1025 --patterns random | tee "$report"
# Every algorithm has a variant with results.
for algorithm in $("$program" algorithms | sed -nE 's|^([a-z_]+): .*|\1|p'); do
    if ! grep -qE "^$algorithm .* (bits|bound)" "$report"; then
        echo "FAILED  no variant of $algorithm runs with groups of 64 work-items"
        exit 1
    fi
done
