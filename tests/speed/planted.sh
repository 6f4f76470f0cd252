#!/usr/bin/env bash
# planted.sh PROGRAM DEVICE CALL...: the textbook variant of each call is too slow for the test of speed.
set -u
program=$1 device=$2
shift 2
for call in "$@"; do
    "$program" "$device" --plant --only "$call"
    status=$?
    [[ $status == 1 ]] || { echo "FAILED: expected status 1 for a slow '$call', got $status"; exit 1; }
done
"$program" "$device" --only "no such call" && exit 1
echo "passed: $# slow calls noticed"
