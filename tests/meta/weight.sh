#!/usr/bin/env bash
# weight.sh BUILD_DIR SOURCE_DIR: prints how much of its budget the project uses, and ends with 1 if a budget of
# weight.txt is exceeded. What this build cannot tell is named with the reason.
#   lines        of C++, CUDA, OpenCL C, Python, shell and CMake files, with comments
#   library      bytes of libconcord and its backends, stripped
#   wheel        bytes of the Python package's wheel
#   compilation  CPU seconds that the library's files compiled, as a multiple of the reference file in the same build
set -euo pipefail
export LC_ALL=C
build=$1 source=$2
table=${CONCORD_WEIGHT_TABLE:-$source/tests/meta/weight.txt}
unknown() { echo "unknown $*"; }

lines() {
    git -C "$source" rev-parse --quiet --verify HEAD >/dev/null || { unknown "not a git checkout"; return; }
    (cd "$source" && git ls-files -z --cached --others --exclude-standard -- '*.cpp' '*.hpp' '*.c' '*.h' '*.cu' '*.cuh' '*.cl' '*.kernel' \
        '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' setup .ci/run | xargs -0 cat 2>/dev/null || true) | wc -l
}

cached() { sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"; }

library() {
    local sum=0 file stripped
    [[ $(cached CMAKE_BUILD_TYPE) == Release && -z $(cached CONCORD_SANITIZE) && $(cached CMAKE_CXX_COMPILER) != *clang* ]] ||
        { unknown "not a release build by g++"; return; }
    stripped=$(mktemp)
    for file in "$build"/lib/libconcord.so "$build"/lib/concord-backend-*.so; do
        [[ -e $file ]] || { rm -f "$stripped"; unknown "no ${file##*/}: not a shared build"; return; }
        strip -o "$stripped" "$file"
        sum=$((sum + $(stat -c %s "$stripped")))
    done
    rm -f "$stripped"
    echo "$sum"
}

wheel() {
    local newest
    newest=$(ls -t "$build"/python/wheels/concord_compute-*.whl 2>/dev/null | sed -n 1p)
    [[ $newest ]] || { unknown "no wheel in $build/python/wheels; ./setup wheel builds it"; return; }
    stat -c %s "$newest"
}

# The last line of a file counts.
compilation() {
    [[ -e $build/cpu_seconds.log ]] || { unknown "the build did not record CPU seconds"; return; }
    awk '
        { seconds[$2] = $1 }
        END {
            for (file in seconds) {
                if (file ~ /budget_reference.*\.o$/) unit = seconds[file]
                else if (file ~ /^(core|algorithms|pipeline|distributed|backends)\/.*\.(o|gch)$/) sum += seconds[file]
            }
            if (unit == 0) print "unknown the reference file is not compiled"
            else if (unit < 1 || sum < 5 * unit) print "unknown a compiler cache was used"
            else printf "%.1f\n", sum / unit
        }' "$build/cpu_seconds.log"
}

failed=0 known=0
printf '%-12s %12s %12s\n' "" used budget
while read -r name budget unit; do
    [[ $name && $name != \#* ]] || continue
    declare -F "$name" >/dev/null || { echo "FAILED: weight.txt names '$name', which is not measured"; exit 1; }
    used=$("$name")
    if [[ $used == unknown* ]]; then
        printf '%-12s %12s %12s %s (%s)\n' "$name" - "$budget" "$unit" "${used#unknown }"
        continue
    fi
    known=$((known + 1))
    over=$(awk -v used="$used" -v budget="$budget" 'BEGIN { print (used > budget ? "  EXCEEDED" : "") }')
    printf '%-12s %12s %12s %s%s\n' "$name" "$used" "$budget" "$unit" "$over"
    [[ -z $over ]] || failed=1
done <"$table"
((known > 0)) || { echo "FAILED: nothing was measured"; exit 1; }
[[ $failed == 0 ]] || echo "Make room, or raise the budget in tests/meta/weight.txt and say why in the commit"
exit "$failed"
