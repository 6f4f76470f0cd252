#!/usr/bin/env bash
# host_mutation.sh BUILD_DIR [COMPILER]: mutation.sh for the kernels of the CPU, which are C++. Each mutant below is planted
# in a copy of its header; host_mutation.cpp, compiled with that copy first on the include path, puts the kernels through the
# suite, which must end with status 1 and a result that differs, or crash. COMPILER: what BUILD_DIR, a build with shared libraries, was
# built with (c++).
set -u
export LC_ALL=C

build=$(cd -- "${1:?usage: host_mutation.sh BUILD_DIR [COMPILER]}" && pwd -P) || exit 2
compiler=${2:-c++}
tests=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P) || exit 2
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset CONCORD_DEVICE CONCORD_HOST_ISA
export CONCORD_THREADS=2  # whose caches are small: the largest case is past them

# mutant FILE WHAT FROM TO
files=() whats=() froms=() tos=()
mutant() {
    files+=("$1") whats+=("$2") froms+=("$3") tos+=("$4")
}

mutant map_host.hpp "naive: a write past the end" \
    'end = std::min(n, begin + tile);
    for (u64 i' 'end = std::min(n + 1, begin + tile);
    for (u64 i'
mutant map_host.hpp "vectorized: an operand is taken for the other" 'op(x[i], y[i])' 'op(x[i], x[i])'
mutant map_host.hpp "vectorized: the last element stays behind where data is past the cache" \
    'stream_store(out + base, block, count * sizeof(U))' 'stream_store(out + base, block, (count - 1) * sizeof(U))'
mutant reduce_host.hpp "fixed: the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce_host.hpp "fixed: another association" 'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce_host.hpp "fixed: all groups write their sums to the same place" 'chunk, sums + first,' 'chunk, sums,'
mutant reduce_host.hpp "fixed: the ticket is not left zero" 'arrived.store(0, std::memory_order_relaxed);' ''
mutant reduce_host.hpp "fixed: the third level is short" '(chunks + upper_chunk - 1) / upper_chunk' 'chunks / upper_chunk'
mutant reduce_host.hpp "interleaved: the last step of the tree is left out" \
    'distance < step_group; distance *= 2' 'distance < step_group / 2; distance *= 2'
mutant reduce_host.hpp "first_add: an element past the end is counted" 'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_host.hpp "global_tree: the last element is dropped" \
    'std::min(n - half, begin + tile)' 'std::min(n - half - 1, begin + tile)'

mutant sort_host.hpp "merge: of equal keys the later comes first" \
    'const bool second = less(y, x) != 0;' 'const bool second = less(x, y) == 0;'
mutant sort_host.hpp "merge: the merge path takes equal keys from the later run" \
    'if (less(b[rank - 1 - middle], a[middle]) != 0) {' 'if (less(a[middle], b[rank - 1 - middle]) == 0) {'
mutant sort_host.hpp "merge: the last element of a run is left out" \
    'for (u64 j = k - i; j < b_count; ++j, ++k)' 'for (u64 j = k - i; j + 1 < b_count; ++j, ++k)'
mutant sort_host.hpp "merge: insertion passes equal keys" \
    'less(key, now.keys[j - 1]) != 0' 'less(now.keys[j - 1], key) == 0'
mutant sort_host.hpp "merge: values stay behind" 'to.values[i] = from.values[j];' 'to.values[i] = from.values[0];'
mutant sort_host.hpp "merge: a part of a run ends one early" 'first - a + count, less);' 'first - a + count - 1, less);'

# Puts the mutant's header into a folder of its own; says what is wrong if it does not apply.
plant() {  # INDEX
    local file=${files[$1]} text without times
    text=$(<"$tests/../algorithms/${file%_host.hpp}/$file") || exit 2
    without=${text//"${froms[$1]}"/}
    times=$(((${#text} - ${#without}) / ${#froms[$1]}))
    if [[ $times != 1 ]]; then
        echo "what it replaces is there $times times, not once"
        return
    fi
    mkdir -p "$work/$1/concord"
    printf '%s\n' "${text/"${froms[$1]}"/"${tos[$1]}"}" >"$work/$1/concord/$file"
}

# Compiles with the headers of a folder before all others, and runs; the status is in the last line of FOLDER/log.
check() {  # FOLDER
    if ! "$compiler" -std=c++20 -O1 -ffp-contract=off -I"$1" -I"$build/include" "$tests/host_mutation.cpp" -o "$1/check" \
        -L"$build/lib" -lconcord-conformance -lconcord -Wl,-rpath,"$build/lib" >"$1/log" 2>&1; then
        echo "it does not compile" >>"$1/log"
        return
    fi
    "$1/check" >"$1/log" 2>&1 </dev/null
    echo "status $?" >>"$1/log"
}
status_of() { tail -n 1 "$work/$1/log"; }

# As many beside one another as there are processors.
processors=$(nproc 2>/dev/null || echo 2)
running=0
start() {
    if ((running == processors)); then wait -n; else ((++running)); fi
    check "$work/$1" &
}

failed=0
fail() {
    echo "FAILED  $1"
    ((++failed))
}
mkdir "$work/sound"
start sound
planted=()
for i in "${!files[@]}"; do
    problem=$(plant "$i")
    if [[ $problem ]]; then
        fail "${files[i]}: ${whats[i]}: $problem"
    else
        planted+=("$i")
        start "$i"
    fi
done
wait

if [[ $(status_of sound) == "status 0" ]]; then
    echo "passed  without a fault: $(grep '^check:' "$work/sound/log")"
else
    fail "without a fault: $(status_of sound)"
    head -n 20 "$work/sound/log"
fi
caught=0
for i in "${planted[@]}"; do
    if [[ $(status_of "$i") == "status 1" ]] && grep -q DIFFERS "$work/$i/log"; then
        how=$(grep -m 1 -A 1 '^FAILED' "$work/$i/log" | tail -n 1)
        echo "caught  ${files[i]}: ${whats[i]}:${how#   }"
        ((++caught))
    elif [[ $(status_of "$i") =~ ^status\ (134|139)$ ]]; then
        echo "caught  ${files[i]}: ${whats[i]}: it crashed, $(status_of "$i")"
        ((++caught))
    elif [[ $(status_of "$i") == status* ]]; then
        fail "${files[i]}: ${whats[i]}: NOT CAUGHT, $(status_of "$i")"
    else
        fail "${files[i]}: ${whats[i]}: $(status_of "$i")"
        grep -m 3 error "$work/$i/log"
    fi
done
echo "$caught mutants caught, $failed failures"
[[ $failed == 0 ]]
