#!/bin/sh
# cpu_seconds.sh LOG OBJECT COMMAND...: runs a compiler, and appends a line to LOG: its CPU seconds and OBJECT.
log=$1 object=$2
shift 2
"$@"
status=$?
# In a pipe, times would be a process of its own. Its second line is "1m2.345678s 0m0.123456s", user and system.
times >"$log.$$"
awk -v object="$object" '
    NR == 2 {
        for (k = 1; k <= 2; ++k) {
            split($k, part, /[ms]/)
            seconds += 60 * part[1] + part[2]
        }
        printf "%.2f %s\n", seconds, object
    }' "$log.$$" >>"$log"
rm -f "$log.$$"
exit "$status"
