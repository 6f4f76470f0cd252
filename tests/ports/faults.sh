#!/usr/bin/env bash
# faults.sh PROGRAM: runs a port's check with each planted fault. The check must find it and end with 1. The program
# ends with 2 after the last fault.
set -u
found=0
for ((fault = 1; ; ++fault)); do
    "$1" --fault "$fault" tbb
    status=$?
    [[ $status == 1 ]] || break
    found=$fault
done
echo "faults.sh: found faults 1 to $found; fault $fault: status $status"
[[ $status == 2 && $found -ge 3 ]]
