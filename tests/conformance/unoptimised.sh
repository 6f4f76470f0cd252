# Sourced with the program in $concord: sets pocl_version, 0 without PoCL. Up to version 3 PoCL then compiles kernels
# without optimisation, which takes a third of the time for kernels of many work-items. From PoCL 5 some of these have
# wrong results with every setting (stencil/ring, convolve/register_tiled, sort/onesweep and rank_merge), which are
# right on other devices.
# shellcheck shell=bash

pocl_version=$("$concord" devices --json 2>/dev/null | sed -n 's/.*"driver": ".*OpenCL 3.0 PoCL \([0-9]*\)\..*/\1/p' | sed -n 1p)
pocl_version=${pocl_version:-0}
if ((pocl_version >= 1 && pocl_version <= 3)); then
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
fi
