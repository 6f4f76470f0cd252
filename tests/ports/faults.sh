#!/usr/bin/env bash
# faults.sh PROGRAM: runs a port's check with each planted fault. The check must find it and end with 1. Behind the last
# fault the program names the range of its faults, which must all have been found.
set -u
found=0
for ((fault = 1; ; ++fault)); do
    message=$("$1" --fault "$fault" tbb 2>&1)
    status=$?
    echo "$message"
    [[ $status == 1 ]] || break
    found=$fault
done
echo "faults.sh: found faults 1 to $found; fault $fault: status $status"
[[ $status == 2 && $message == *"--fault: must be 1 to $found, got '$fault'"* ]]
