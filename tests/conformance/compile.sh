#!/usr/bin/env bash
# compile.sh CONCORD SOURCE_DIR ALGORITHMS DEVICE OPTIONS...: compiles CUDA kernels without a GPU: `concord check` with
# the OPTIONS on a compile-only DEVICE. ALGORITHMS are names, or "all". Compiles all variants of algorithms that changed
# since the last landing, and a tenth of the others (tests/meta/select_changed.sh).
set -euo pipefail
export LC_ALL=C

concord=$1 source=$(cd -- "$2" && pwd -P) algorithms=$3 device=$4
shift 4
# shellcheck source=tests/meta/select_changed.sh
source "$source/tests/meta/select_changed.sh"

# The files that an algorithm's kernels depend on: its folder, except kernels in other languages, and shared sources
# that it includes. Add has the kernels of map. The tenth covers the rest, which all kernels depend on.
files_of() {  # ALGORITHM
    local -a folders=("algorithms/$1") names
    local -A seen=()
    local name file
    cd "$source"
    [[ $1 != add ]] || folders+=(algorithms/map)
    [[ $1 != map ]] || ls core/include/concord/detail/math/*.h
    find "${folders[@]}" -type f -not -name '*.cl' -not -name '*_host*' -not -name '*.md'
    mapfile -t names < <(find "${folders[@]}" -name '*.cu')
    while [[ ${#names[@]} -gt 0 ]]; do
        name=${names[0]} names=("${names[@]:1}")
        while IFS= read -r file; do
            file=algorithms/common/$file
            [[ -e $file && ! ${seen[$file]:-} ]] || continue
            seen[$file]=1
            names+=("$file")
            echo "$file"
        done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$name")
    done
}

# "ALGORITHM VARIANT" for each variant that exists for CUDA.
list_variants() {
    "$concord" algorithms --json | awk -F'"' '
        $2 == "variants" || $2 == "tunables" { part = $2 }
        /^      "name"/ { algorithm = $4 }
        part == "variants" && /^          "name"/ { variant = $4 }
        part == "variants" && /^          "cuda": true/ { print algorithm, variant }'
}

declare -A files=() variants=()
order=()
total=0 chosen=0
while read -r algorithm variant; do
    [[ $algorithms == all || " $algorithms " == *" $algorithm "* ]] || continue
    [[ -v files[$algorithm] ]] || { files[$algorithm]=$(files_of "$algorithm") && order+=("$algorithm"); }
    mapfile -t list <<<"${files[$algorithm]}"
    total=$((total + 1))
    is_selected "${list[@]}" || continue
    chosen=$((chosen + 1))
    variants[$algorithm]+=${variants[$algorithm]:+,}$variant
done < <(list_variants)
[[ $total -gt 0 ]] || { echo "compile.sh: no variants of $algorithms"; exit 1; }
echo "$chosen of $total variants: $(selection)"
[[ $chosen -gt 0 ]] || { echo "compile.sh: selected no variant"; exit 1; }

status=0
for algorithm in "${order[@]}"; do
    [[ -v variants[$algorithm] ]] || continue
    "$concord" check "$algorithm" --variants "${variants[$algorithm]}" --devices "$device" "$@" || status=1
done
exit "$status"
