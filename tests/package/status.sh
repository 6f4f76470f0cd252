#!/usr/bin/env bash
# status.sh STATUS COMMAND...: checks that the command ends with that status.
set -u
wanted=$1
shift
"$@"
status=$?
echo "status.sh: status $status, expected $wanted"
[[ $status == "$wanted" ]]
