#!/usr/bin/env bash
# exit_pending.sh PROGRAM DEVICE: PROGRAM (exit_pending_program.cpp) ends while work is pending. PoCL compiles kernels
# while they run: its cache is empty.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for run in 1 2 3; do
    status=0
    POCL_CACHE_DIR=$work/$run "$1" "$2" || status=$?
    [[ $status == 3 ]] || { echo "run $run: status $status, expected 3"; exit 1; }
done
