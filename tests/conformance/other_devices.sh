#!/usr/bin/env bash
# Runs the device suite, and `concord check` against oneTBB, on every device without a ctest entry: GPUs, and
# OpenCL devices after the first. Ends with 77, which ctest shows as skipped, if there are none.
set -euo pipefail
bin=${1:?usage: other_devices.sh BIN_DIR}

others=$("$bin/concord" devices | awk '$1 ~ /^[a-z]+:[0-9]+$/ && $1 != "tbb:0" && $1 != "opencl:0" { print $1 }' |
    paste -sd, -)
if [[ -z $others ]]; then
    echo "other_devices.sh: not tested: no devices except tbb:0 and opencl:0; needs a GPU with its driver, or a second OpenCL driver"
    exit 77
fi
echo "on $others"
CONCORD_TEST_DEVICES=$others "$bin/concord-tests" --test-suite=device
"$bin/concord" check --devices "tbb:0,$others"
