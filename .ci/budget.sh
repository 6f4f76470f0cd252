#!/usr/bin/env bash
# budget.sh BUILD_DIR SECONDS: prints the ten longest build steps and tests, and compares SECONDS, the CPU seconds of
# the build and its tests, with a budget. Machines differ in speed, so the unit of the budget is one compilation of
# tests/meta/budget_reference.cpp. Ends with 1 if more than 1.25 of the budget was spent.
set -euo pipefail
budget=680

build=$1
spent=$2
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
awk -v spent="$spent" -v unit="$unit" -v budget="$budget" 'BEGIN {
    used = spent / unit
    printf "Build and tests: %d CPU seconds, %.0f reference compilations of %.2f s; the budget is %d\n", spent, used, unit, budget
    if (used > 1.25 * budget) {
        print "budget: exceeded by more than a quarter; make tests or the build shorter, or move tests to --long"
        exit 1
    }
}'
