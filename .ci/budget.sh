#!/usr/bin/env bash
# budget.sh [BUILD_DIR CPU_SECONDS MINUTES TEST_MINUTES]: what continuous integration may take. Without arguments
# prints the limits, which CONTRIBUTING.md and .ci/run repeat. With them prints the ten longest build steps and tests,
# and compares what .ci/run took: CPU_SECONDS of build and tests, MINUTES of wall time from nothing, and TEST_MINUTES of
# these for the tests. Machines differ in speed, so the unit of the budget of CPU time is one compilation of
# tests/meta/budget_reference.cpp. Ends with 1 if more than 1.25 of it was spent. Wall time depends on what else the
# machine does, and is printed only.
set -euo pipefail
export LC_ALL=C

# CPU time of build and tests, in reference compilations, if the kernels of all algorithms have changed: that is when
# a third of all mutants run. The wall time below allows 300. It is an upper limit: the shorter default tests are not
# measured.
reference_compilations=1000

# Wall time in minutes, on two slow cores: a reference compilation takes 8 s there.
minutes=20
test_minutes=12
# Minutes that planned work may add.
shares='
0.5   kernels with local memory in one body
0.75  inputs that are expressions, and every axis
0.5   Python: functions that NumPy users call first
0.75  segments, keys, counts on the device
0.5   selection, scatter in a fixed order, random numbers
0.5   rows that do not depend on their batch, frozen bits
1     element types: f16, bf16, complex, structs
0.5   worked ports and their checkers
'
limit=$(awk -v sum="$minutes" '{ sum += $1 } END { print sum }' <<<"$shares")

if [[ $# == 0 ]]; then
    echo "$minutes minutes from nothing, $test_minutes of them for the tests, and $limit once planned work has used its shares"
    exit
fi
build=$1 spent=$2
source=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
unit=
for _ in 1 2 3; do
    TIMEFORMAT='%U %S'
    seconds=$({ time c++ -std=c++20 -O2 -c -o /dev/null "$source/tests/meta/budget_reference.cpp"; } 2>&1 | awk '{ print $1 + $2 }')
    unit=$(awk -v a="${unit:-$seconds}" -v b="$seconds" 'BEGIN { print (b < a ? b : a) }')
done

echo "The ten longest build steps (seconds, as far as the build folder records them):"
awk '!/^#/ { t = ($2 - $1) / 1000; if (t > longest[$4]) longest[$4] = t } END { for (f in longest) printf "%8.1f  %s\n", longest[f], f }' \
    "$build/.ninja_log" | sort -rn | awk 'NR <= 10'
echo "The ten longest tests (seconds):"
awk 'NF == 3 && $3 < 10000 { printf "%8.1f  %s\n", $3, $1 }' "$build/Testing/Temporary/CTestCostData.txt" | sort -rn | awk 'NR <= 10'
echo "Wall time: $3 minutes of $minutes ($limit with the shares of planned work), tests $4 of $test_minutes, on $(nproc) processors"
awk -v spent="$spent" -v unit="$unit" -v budget="$reference_compilations" 'BEGIN {
    used = spent / unit
    printf "Build and tests: %d CPU seconds, %.0f reference compilations of %.2f s; the budget is %d\n", spent, used, unit, budget
    if (used > 1.25 * budget) {
        print "budget: exceeded by more than a quarter; make tests or the build shorter, or move tests to --long"
        exit 1
    }
}'
