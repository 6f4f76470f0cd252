# Sourced with the program in $concord: PoCL compiles kernels without optimisation, which takes a third of the time for
# kernels of many work-items. Only up to version 3: PoCL 5 then gives wrong results of kernels with private arrays and
# barriers (stencil/ring, convolve/register_tiled), which are right with optimisation and on other devices.
# shellcheck shell=bash

if "$concord" devices --json 2>/dev/null | grep -q '"driver": ".*PoCL [1-3]\.'; then
    export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
fi
