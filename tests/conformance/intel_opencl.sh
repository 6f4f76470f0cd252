#!/usr/bin/env bash
# intel_opencl.sh BUILD_DIR COMMAND [ARGUMENT...]: runs the command with Intel's OpenCL runtime for CPUs as the only
# OpenCL driver, so that it is opencl:0. Uses the runtime that setup fetched into BUILD_DIR/intel-opencl, else an
# installed one. Ends with 77, which ctest shows as skipped, if there is neither.
set -euo pipefail
build=${1:?usage: intel_opencl.sh BUILD_DIR COMMAND [ARGUMENT...]}
shift

vendors=$build/intel-opencl/vendors
if [[ ! -d $vendors ]]; then
    driver=$(grep -lE 'libintelocl\.so' /etc/OpenCL/vendors/*.icd 2>/dev/null | sed -n 1p || true)
    if [[ -z $driver ]]; then
        echo "intel_opencl.sh: Intel's OpenCL runtime for CPUs is not installed: not tested (./setup test --long fetches it)"
        exit 77
    fi
    vendors=$(mktemp -d)
    trap 'rm -rf "$vendors"' EXIT
    cp "$driver" "$vendors"
fi
unset OCL_ICD_FILENAMES CONCORD_DEVICE
export OCL_ICD_VENDORS=$vendors
"$@"
