#!/usr/bin/env bash
# unoptimised.sh CONCORD COMMAND...: runs the command. PoCL up to version 3 then compiles kernels without optimisation,
# which takes a third of the time for kernels of many work-items. Sourced with the program in $concord: sets the
# variable that does it, and pocl_version, 0 without PoCL. From PoCL 5 some kernels have wrong results with every
# setting (stencil/ring, convolve/register_tiled, sort/onesweep and rank_merge), which are right on other devices.

[[ ${BASH_SOURCE[0]} != "$0" ]] || concord=${1:?usage: unoptimised.sh CONCORD COMMAND...}
pocl_version=$("$concord" devices --json 2>/dev/null | sed -n 's/.*"driver": ".*OpenCL 3.0 PoCL \([0-9]*\)\..*/\1/p' | sed -n 1p)
pocl_version=${pocl_version:-0}
if ((pocl_version >= 1 && pocl_version <= 3)); then
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
fi
[[ ${BASH_SOURCE[0]} != "$0" ]] || exec "${@:2}"
