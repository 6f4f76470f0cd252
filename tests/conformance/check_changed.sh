#!/usr/bin/env bash
# check_changed.sh [--unoptimised] CONCORD SOURCE_DIR LANGUAGE ALGORITHMS DEVICE OPTIONS...: `concord check` with the
# OPTIONS on the DEVICE, whose kernels are in the LANGUAGE, such as opencl. ALGORITHMS are names, or "all". Checks all
# variants of algorithms that changed since the last landing, and a tenth of the others (tests/meta/select_changed.sh).
# --unoptimised: see unoptimised.sh.
set -euo pipefail
export LC_ALL=C

is_optimised=1
[[ $1 != --unoptimised ]] || { is_optimised=0; shift; }
concord=$1 source=$(cd -- "$2" && pwd -P) language=$3 algorithms=$4 device=$5
shift 5
# Of the table of languages: the suffix of this one, and patterns of files in others.
suffixes() {  # CONDITION
    awk -F'"' -v id="$language" "/^ *\\.id = / { at = \$2 } /^ *\\.suffix = / && at $1 id { print \$2 }" \
        "$source/core/internal/concord/internal/language.hpp"
}
suffix=$(suffixes ==)
[[ $suffix ]] || { echo "check_changed.sh: no compiled language '$language' in the table of languages" >&2; exit 2; }
mapfile -t others < <(suffixes != | grep -vx "$suffix" | sed 's/^/-not\n-name\n*./')
# shellcheck source=tests/meta/select_changed.sh
source "$source/tests/meta/select_changed.sh"
# shellcheck source=tests/conformance/unoptimised.sh
((is_optimised)) || {
    source "$source/tests/conformance/unoptimised.sh"
    if ((pocl_version > 3)); then
        echo "skipped: PoCL $pocl_version gives wrong results of stencil/ring, convolve/register_tiled and sort/onesweep"
        exit 77
    fi
}

# The files that an algorithm's kernels depend on: its folder, except kernels in other languages, and shared sources
# that it includes. Some have kernels of others. The tenth covers the rest, which all kernels depend on.
files_of() {  # ALGORITHM
    local -a folders=("algorithms/$1") names
    local -A seen=()
    local name file
    cd "$source"
    case $1 in
        add) folders+=(algorithms/map) ;;
        segmented_sort) folders+=(algorithms/sort) ;;
        unique) folders+=(algorithms/compact) ;;
        run_length_encode) folders+=(algorithms/{unique,compact}) ;;
        reduce_by_key) folders+=(algorithms/{unique,compact,segmented_reduce}) ;;
        scan_by_key) folders+=(algorithms/segmented_scan) ;;
    esac
    [[ $1 != map ]] || ls core/include/concord/detail/math/*.h
    find "${folders[@]}" -type f "${others[@]}" -not -name '*_host*' -not -name '*.md'
    mapfile -t names < <(find "${folders[@]}" -name "*.$suffix" -o -name '*.kernel')
    while [[ ${#names[@]} -gt 0 ]]; do
        name=${names[0]} names=("${names[@]:1}")
        while IFS= read -r file; do
            for file in algorithms/common/"$file"{,.kernel,".$suffix"}; do
                [[ -f $file && ! ${seen[$file]:-} ]] || continue
                seen[$file]=1
                names+=("$file")
                echo "$file"
            done
        done < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$name")
    done
}

# "ALGORITHM VARIANT" for each variant that exists in the language.
list_variants() {
    "$concord" algorithms --json | awk -F'"' -v language="$language" '
        $2 == "variants" || $2 == "tunables" { part = $2 }
        /^      "name"/ { algorithm = $4 }
        part == "variants" && /^          "name"/ { variant = $4 }
        part == "variants" && $2 == language && /: true/ { print algorithm, variant }'
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
[[ $total -gt 0 ]] || { echo "check_changed.sh: no variants of $algorithms"; exit 1; }
echo "$chosen of $total variants: $(selection)"
[[ $chosen -gt 0 ]] || { echo "check_changed.sh: selected no variant"; exit 1; }

# A check ends with 1 if it has no case, such as kernels for one work-item on a device with many, or bytes of a stencil.
status=0 checked=0
changed=() others=()
for i in $(rotated ${#order[@]}); do
    algorithm=${order[i]}
    [[ -v variants[$algorithm] ]] || continue
    mapfile -t list <<<"${files[$algorithm]}"
    if has_changed "${list[@]}"; then changed+=("$algorithm"); else others+=("$algorithm"); fi
done
for algorithm in "${changed[@]}" "${others[@]}"; do
    has_time || { echo "left out after $CONCORD_SELECTED_SECONDS s: $algorithm"; continue; }
    failed=0
    output=$("$concord" check "$algorithm" --variants "${variants[$algorithm]}" --devices "$device" "$@" 2>&1) || failed=1
    printf '%s\n' "$output"
    if ((failed)) && grep -q '^check: 0 passed, 0 failed, 0 skipped, [0-9]* not applicable$' <<<"$output"; then
        failed=0
    else
        checked=$((checked + 1))
    fi
    ((failed == 0)) || status=1
done
[[ $checked -gt 0 ]] || { echo "skipped: no selected variant is applicable to $device"; exit 77; }
exit "$status"
