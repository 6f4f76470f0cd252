#!/usr/bin/env bash
# layers.sh COMPILER SOURCE_DIR LAYERS_FILE: checks that dependencies between layers point one way.
# LAYERS_FILE has a line per target, separated by tabs: name, source file, options of include folders. The test plants
# an include of every layer's header in each source file. The compiler must find the header if and only if the target
# may use that layer.
set -euo pipefail
compiler=$1 source_dir=$2 layers=$3

# layer | a header that only this layer provides
declare -A header=(
    [core]=concord/device.hpp
    [algorithms]=concord/scan.hpp
    [pipeline]=concord/pipeline.hpp
    [distributed]=concord/communicator.hpp
    [check]=concord/lab/check.hpp
    [bench]=concord/lab/bench.hpp
    [tune]=concord/lab/internal/tune.hpp
    [study]=concord/study/internal/study.hpp
)
# target | the layers that it may include
declare -A may_use=(
    [core]="core"
    [backend]="core"
    [algorithms]="core algorithms"
    [pipeline]="core algorithms pipeline"
    [distributed]="core algorithms pipeline distributed"
    [check]="core algorithms pipeline distributed check"
    [bench]="core algorithms pipeline distributed check bench"
    [tune]="core algorithms pipeline distributed check bench tune"
    [mpi]="core algorithms pipeline distributed"
    [study]="core algorithms pipeline distributed check bench tune study"
    [program]="core algorithms pipeline distributed check bench tune study"
)

failed=0 tried=0
fail() {
    echo "FAILED: $*" >&2
    failed=1
}

while IFS=$'\t' read -r -a fields; do
    target=${fields[0]} file=${fields[1]}
    for layer in "${!header[@]}"; do
        tried=$((tried + 1))
        if { echo "#include <${header[$layer]}>"; cat "$source_dir/$file"; } |
            "$compiler" -std=c++20 -E -x c++ -I "$(dirname "$source_dir/$file")" "${fields[@]:2}" -o /dev/null - 2>error.log; then
            [[ " ${may_use[$target]} " == *" $layer "* ]] ||
                fail "$file ($target) can include <${header[$layer]}> of the layer $layer above it"
        elif [[ " ${may_use[$target]} " == *" $layer "* ]]; then
            fail "$file ($target) cannot include <${header[$layer]}>: $(head -n 1 error.log)"
        elif ! grep -q "${header[$layer]}: No such file" error.log; then
            fail "$file ($target) fails for another reason: $(head -n 1 error.log)"
        fi
    done
done <"$layers"
rm -f error.log
[[ $tried -ge 56 ]] || fail "only $tried combinations were tried"
[[ $failed == 0 ]] && echo "$tried planted includes: found or refused as the layers require"
exit "$failed"
