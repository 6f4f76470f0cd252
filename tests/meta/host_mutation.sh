#!/usr/bin/env bash
# host_mutation.sh BUILD_DIR [COMPILER [WHAT]]: mutation.sh for CPU kernels, which are C++. Plants each mutant below in
# a copy of its header. host_mutation.cpp, compiled with that copy first on the include path, runs the suite on the
# kernels. The suite must end with status 1 and a differing result, or crash. For kernels in the library, a
# replacement is loaded before the library. COMPILER compiled BUILD_DIR, a build with shared libraries (default: c++).
# WHAT: only the mutant of this description.
set -u
export LC_ALL=C

build=$(cd -- "${1:?usage: host_mutation.sh BUILD_DIR [COMPILER]}" && pwd -P) || exit 2
compiler=${2:-c++} only=${3:-}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P) || exit 2
source=${here%/*/*}
# shellcheck source=select_changed.sh
source "$here/select_changed.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset CONCORD_DEVICE CONCORD_HOST_ISA
export CONCORD_THREADS=2  # whose caches are small: the largest case is past them

# mutant FILE WHAT FROM TO
files=() whats=() froms=() tos=() units=() checks=()
mutant() {
    files+=("$1") whats+=("$2") froms+=("$3") tos+=("$4") units+=("") checks+=("")
}
# of_library FILE UNIT CHECK WHAT FROM TO: the same for kernels in the library. UNIT is the source file that compiles
# them; its replacement is loaded before the library. `concord check CHECK` must catch the fault. FILE may have its
# folder of algorithms/ in front, which is otherwise the first word of its name.
of_library() {
    files+=("$1") units+=("$2") checks+=("$3") whats+=("$4") froms+=("$5") tos+=("$6")
}

mutant map_host.hpp "naive: a write past the end" 'end = min_of(n, begin + tile);
    for (u64 i' 'end = min_of(n + 1, begin + tile);
    for (u64 i'
mutant map_host.hpp "vectorized: an operand is taken for the other" \
    'map_elements(a + at, b + at,' 'map_elements(a + at, a + at,'
mutant map_host.hpp "vectorized: an operand is taken for the other where data is past the cache" \
    'op(a[at + i], b[at + i])' 'op(a[at + i], a[at + i])'
mutant map_host.hpp "vectorized: elements after the last whole line stay behind where data is past the cache" \
    'map_elements(a + at, b + at, out + at, stop - at, op);
        if (stop' 'if (at == begin) map_elements(a + at, b + at, out + at, stop - at, op);
        if (stop'
mutant reduce_host.hpp "fixed: the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce_host.hpp "fixed: another association" 'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce_host.hpp "fixed: all groups write their sums to the same place" 'out : sums + first' 'out : sums'
mutant reduce_host.hpp "fixed: the first group to finish takes itself for the last" '!= group.count_x - 1' '!= 0'
mutant reduce_host.hpp "fixed: the third level is short" '(chunks + chunk - 1) / chunk' '(chunks + chunk - 1) / chunk - (chunks > chunk)'

mutant sort_host.hpp "merge: of equal keys the later comes first" \
    'const bool second = less(y, x) != 0;' 'const bool second = less(x, y) == 0;'
mutant sort_host.hpp "merge: the merge path takes equal keys from the later run" \
    'if (less(b[middle - 1 - i], a[i]) != 0) {' 'if (less(a[i], b[middle - 1 - i]) == 0) {'
mutant sort_host.hpp "merge: the last element of a run is left out" \
    'for (u64 j = k - i; j < b_count; ++j, ++k)' 'for (u64 j = k - i; j + 1 < b_count; ++j, ++k)'
mutant sort_host.hpp "merge: insertion passes equal keys" \
    'less(key, now.keys[j - 1]) != 0' 'less(now.keys[j - 1], key) == 0'
mutant sort_host.hpp "merge: values stay behind" 'to.values[i] = from.values[j];' 'to.values[i] = from.values[0];'
mutant sort_host.hpp "merge: a part of a run ends one early" 'part.end = low;' 'part.end = low > 0 ? low - 1 : 0;'

scan="scan --variants partitioned --types"
of_library scan_host.cpp scan_host.cpp "$scan i64 --patterns mixed --sizes 1009,1200001" "the lowest level above the tiles is left out" \
    'while (depth-- > 0)' 'while (depth-- > 1)'
of_library scan_host.cpp scan_host.cpp "$scan i64 --patterns mixed --sizes 60001" "groups that share a tile take the first carry" \
    'downsweep(first, length, at(before, begin));' 'downsweep(first, length, before.bytes);'
of_library scan_host.hpp scan_builtin.cpp "$scan f32 --patterns random --sizes 70001" "another association" \
    'p[k + 2] = op(b, c);' 'p[k + 2] = op(a, op(in[k + 1], c));'
of_library scan_host.hpp scan_builtin.cpp "$scan f32 --patterns random --sizes 1009" "the last chunk stays behind" \
    'first < counts[level]; first += scan_piece' 'first + scan_chunk < counts[level]; first += scan_piece'
of_library scan_block_host.hpp scan_builtin.cpp "$scan u32 --patterns random --sizes 1009" "a block passes no carry on" 'carry = next;' ''

lines="scan --variants lines --types i64 --patterns random --sizes"
of_library scan_lines_host.hpp scan_lines_builtin.cpp "$lines 1009" "lines: an exclusive scan is that of a block" \
    'row[l] = canonical(carry[l]);' 'row[l] = canonical(tree.next[l]);'
of_library scan_lines_host.hpp scan_lines_builtin.cpp "$lines 300007" "lines: every block above begins anew" \
    'tree.next[l] = op(tree.carry[level][l], total[l]);' 'tree.next[l] = total[l];'
lines="sort --variants lines --types u32 --patterns few --sizes 1009"
of_library sort/line_sorter.hpp sort_host_lines.cpp "$lines" "lines: places do not count" \
    'return u64{code} << 32 | place;' 'return u64{code} << 32;'
of_library sort_host_lines.cpp sort_host_lines.cpp "$lines" "lines: keys are stored in the order of the input" \
    'out[w.place(2, l, i)] = code.decode(codes[l * pitch + i]);' 'out[w.place(2, l, i)] = in[w.place(0, l, i)];'

two="map --variants evaluate --types i32 --patterns random --sizes 1009"
of_library map_binary.cpp map_binary.cpp "$two" "subtract: operands are exchanged" 'T(W(x) - W(y))' 'T(W(y) - W(x))'
of_library map_binary.cpp map_binary.cpp "$two" "power: the last bit of the exponent is left out" \
    'left != 0; left >>= 1' 'left > 1; left >>= 1'
bytes="map --variants evaluate --types u8 --patterns random --sizes 9001"
of_library map_binary.cpp map_binary.cpp "$bytes" "less_equal: equal elements are not" 'return x <= y ? 1 : 0;' 'return x < y ? 1 : 0;'
of_library map_binary.cpp map_binary.cpp "$bytes" "logical_and: one true operand suffices" 'return T(x & y);' 'return T(x | y);'
of_library map_binary.cpp map_binary.cpp "$two" "where: the choices are exchanged" 'condition != 0 ? x : y' 'condition != 0 ? y : x'
of_library map_binary.cpp map_binary.cpp "$two" "clip: the lower limit is left out" \
    'transform_node(ReduceOp::max, std::move(x), std::move(low))' 'std::move(x)'
of_library map/expression.cpp expression.cpp "$two" "broadcasting: an axis of extent 1 is not repeated" \
    'stride[rank - 1] == step * extents[k]' '(stride[rank - 1] == step * extents[k] || step == 0)'
of_library map/expression.cpp expression.cpp "$two" "broadcasting: the last axis of an expression is repeated" \
    'if (extent != 1) strides' 'if (extent != 1 && back > 0) strides'

of_library random_host.cpp random_host.cpp "random --types u32 --sizes 5001" "elements begin with their block" \
    'const u64 skipped = (offset + at) % of_block,' 'const u64 skipped = 0 * (offset + at),'
of_library random_host.cpp random_host.cpp "random --types u64 --sizes 1009" "the upper word of a block's number is left out" \
    'y[j] = x[j] >> 32;' 'y[j] = V{};'
of_library random_host.cpp random_host.cpp "random --types f32 --sizes 1009" "normal numbers have another tail" \
    '0x1p-33F' '0x1p-34F'

textbook="--types f32 --patterns random --sizes 1009 --variants"
of_library matmul_host.hpp matmul_host.cpp "matmul $textbook serial" "serial: two roundings a step" \
    't = std::fma(a[l * p.a_column], b[l * p.b_row], t);' 't += a[l * p.a_column] * b[l * p.b_row];'
packed="matmul --types f32 --patterns random --sizes 100003 --variants packed"
of_library matmul_parts.hpp matmul_host.cpp "matmul ${textbook/1009/918} serial" "the last part of an odd number stays behind" \
    'if ((parts - 1) >> level & 1) add(level);' ''
of_library matmul_packed.hpp matmul_host.cpp "${packed/100003/640009}" "packed: chains begin anew with each block of k" \
    'k, first ? nullptr : part,' 'k, l < p.k ? nullptr : part,'
of_library matmul_packed.hpp matmul_host.cpp "$packed" "packed: the last row of C stays behind" \
    'for (u64 e = 0; e < height; ++e) {' 'for (u64 e = 0; e + 1 < height; ++e) {'
of_library matmul_packed.hpp matmul_host.cpp "$packed" "packed: all products of a batch are the first" \
    'a + part.a + strip' 'a + strip'
direct="matmul --types f32 --patterns random --sizes 1009,4100 --variants direct"
of_library matmul_direct.hpp matmul_host.cpp "$direct" "direct: columns past the last whole vector stay behind" \
    'for (; j < columns; j += std::min' 'for (; j + R::width <= columns; j += std::min'
of_library matmul_direct.hpp matmul_host.cpp "$direct" "direct: the last row stays behind" \
    'if (i < rows) rows_of' 'if (i + 1 < rows) rows_of'
of_library matmul_direct.hpp matmul_host.cpp "$direct" "direct: all products of a batch are the first" \
    'b + terms.b' 'b'

of_library convolve_host.hpp convolve_host.cpp "convolve $textbook naive" "naive: columns past the end are never 0" \
    'c >= 0 && c < columns;' 'c >= 0;'
of_library convolve_host.hpp convolve_host.cpp "convolve $textbook sliding" "sliding: rows outside are never 0" \
    'if (p.clamps == 0 && (r < 0 || r > last)) return -1;' ''
of_library convolve_host.hpp convolve_host.cpp "convolve $textbook sliding" "sliding: a vector past a row's end" \
    'std::min(x, strip.count - width));' 'x);'
of_library convolve_host.hpp convolve_host.cpp "convolve $textbook sliding" "sliding: rows past the last are stored" \
    'staged || b >= high ?' 'staged ?'
of_library convolve_host.hpp convolve_host.cpp "convolve ${textbook/f32/u8} sliding" \
    "sliding: a row of cells is that of the rows before" 'k >= count - convolve_tall)' 'k > count - convolve_tall)'

of_library stencil_host.hpp stencil_host.cpp "stencil $textbook naive" "naive: a point past the end of a row counts" \
    'column >= volume.columns' 'column > volume.columns'
blocked="stencil --types f32 --patterns random --sizes 300010 --variants blocked"
of_library stencil_host.hpp stencil_host.cpp "$blocked" "blocked: another association" \
    '((left[i] + right[i]) + (ya[i] + yb[i])) + (za[i] + zb[i])' \
    '(left[i] + right[i]) + ((ya[i] + yb[i]) + (za[i] + zb[i]))'
of_library stencil_host.hpp stencil_host.cpp "$blocked" "blocked: a step does not reach as far as the next one needs" \
    'more = radius * (steps - step);' 'more = radius * (steps - step) / 2;'
of_library stencil_host.hpp stencil_host.cpp "${blocked/300010/30017}" "blocked: a box begins at the volume's first row" \
    'tile_y = volume.y_begin + group.x' 'tile_y = group.x'

transpose="transpose --types u32 --patterns random --sizes 1009,20011 --variants"
of_library transpose_host.hpp transpose_host.cpp "$transpose naive" "naive: a pitch is taken for the other" \
    'u64 strip) {
    const u64 end = std::min(rows, (group.x + 1) * strip);' 'u64 strip) {
    const u64 end = std::min(rows, (group.x + 1) * strip);
    out_pitch = rows;'
of_library transpose_host.hpp transpose_host.cpp "$transpose tiled" "tiled: in place, tiles are turned and stay" \
    'if (exchange && column < row) continue;' 'if (exchange && column != row) continue;'
of_library transpose_host.hpp transpose_host.cpp "$transpose blocked" "blocked: in place, the mirror image stays" \
    'if (r != c) {' 'if (r == c) {'
of_library transpose_host.hpp transpose_host.cpp "$transpose blocked" "direct: the last blocks of a row stay behind" \
    'c < right; c += line' 'c + line <= right; c += line'
of_library transpose_host.hpp transpose_host.cpp "$transpose blocked" "blocked: a round takes rows for one another" \
    'next[2 * k + 1] = interleave_high(row[k], row[k + side / 2], lanes);' \
    'next[2 * k + 1] = interleave_high(row[k + side / 2], row[k], lanes);'

compact="compact --types u32 --patterns random --sizes 1009,9001,300007 --variants"
of_library compact_move.hpp compact_kernels.cpp "$compact fused" "fused: the last element of a chunk is not counted" \
    'std::min(n, begin + chunk), false' 'std::min(n, begin + chunk) - 1, false'
of_library compact_move.hpp compact_kernels.cpp "$compact fused" "fused: every other flag of a word is not counted" \
    '(sums & bytes) + (sums >> 8 & bytes)' '2 * (sums & bytes)'
of_library compact_move.hpp compact_kernels.cpp "$compact fused" "fused: the other elements begin at the front" \
    'out + all_kept + (base - before)' 'out + (base - before)'
of_library compact_move.hpp compact_kernels.cpp "$compact two_pass" "two_pass: a tile is stored where it was read" \
    'store_tile(out + before, buffer, kept, non_temporal);
        if (others' 'store_tile(out + begin, buffer, kept, non_temporal);
        if (others'
of_library compact_move.hpp compact_kernels.cpp "$compact serial" "serial: the other elements stay behind" \
    'if (partition != 0) move(0);' ''
of_library compact_move.hpp compact_kernels.cpp "$compact scan_scatter" "scan_scatter: the flag past the end stays" \
    'flags[n] = 0;' 'flags[n] = 1;
    if (begin == 0) flags[0] = 1;'
of_library compact_host.hpp compact_builtin.cpp "$compact fused" "the last element of a block has no flag" \
    'i < count' 'i + 1 < count'

histogram="histogram --types u32 --patterns random --sizes 1009,300007 --variants"
of_library histogram_count.hpp histogram_kernels.cpp "$histogram private_bins" "private_bins: only the first sub-table counts" \
    'table[b] += table[k * stride + b];' 'table[b] += 0 * table[k * stride + b];'
of_library histogram_count.hpp histogram_kernels.cpp "${histogram/u32/u8} private_bins" \
    "private_bins: of a byte's sub-tables the last one counts" 'sum += counts[k * bytes + v];' 'sum = counts[k * bytes + v];'
of_library histogram_count.hpp histogram_kernels.cpp "$histogram serial" "serial: the last bin stays empty" \
    'if (bin < bins && (sizeof(C)' 'if (bin + 1 < bins && (sizeof(C)'
of_library histogram_count.hpp histogram_kernels.cpp "$histogram global_atomic" "global_atomic: the last bin stays empty" \
    'if (bin < bins) add_to(out, words, bin, 1);' 'if (bin + 1 < bins) add_to(out, words, bin, 1);'
of_library histogram_count.hpp histogram_kernels.cpp "$histogram passes" "passes: every pass begins at the first bin" \
    'if (bin - first < held) ++table[(bin - first) * copies' 'if (bin < held) ++table[bin * copies'
of_library histogram_count.hpp histogram_kernels.cpp "$histogram sorted" "sorted: two bins are one" \
    'static_cast<u32>(bin) : none;' 'static_cast<u32>(bin & ~u64{1}) : none;'
of_library histogram_host.hpp histogram_bins.cpp "$histogram private_bins" "the last sample of a block has no bin" \
    'i < count; ++i) {
        const auto' 'i + 1 < count; ++i) {
        const auto'
float=${histogram/u32/f64} integer=${histogram/u32/i32}
of_library histogram_builtin.hpp histogram_bins.cpp "$float private_bins" "exact bins: positions decide on edges too" \
    '< reach' '< G(0.5f)'
of_library histogram_builtin.hpp histogram_bins.cpp "$float serial" "exact bins: the edge before is taken" \
    'E(near + 1) * step' 'E(near) * step'
of_library histogram_builtin.hpp histogram_bins.cpp "$integer private_bins" "exact bins: the last edge is in no bin" \
    'position < top ? position : top' 'position'
of_library histogram_bins.cpp histogram_bins.cpp "$float private_bins" "exact bins: the bound of positions is forgotten" \
    'bins.reach = G(0.5) - wrong' 'bins.reach = G(0.5) - 0 * wrong'
of_library histogram_edges.cpp histogram_edges.cpp "$float private_bins" "edges: a sample on an edge is below it" \
    'part - 1] <= x[j]' 'part - 1] < x[j]'
of_library histogram_edges.cpp histogram_edges.cpp "$float private_bins" "edges: the last edge is in no bin" \
    'edges[count] == x[j]' 'edges[count] < x[j]'
of_library histogram_edges.cpp histogram_edges.cpp "$integer private_bins" "edges: the last sample of all takes no part" \
    'if (at < n) ids' 'if (at + 1 < n) ids'

# Writes the mutant's header into its own folder, with the algorithm's whole folder if it replaces a unit. Prints the
# reason if the mutant does not apply.
plant() {  # INDEX
    local file=${files[$1]##*/} text without times algorithm=${files[$1]%%[_/]*}
    algorithm=$source/algorithms/$algorithm
    text=$(<"$(find "$algorithm" -name "$file")") || exit 2
    without=${text//"${froms[$1]}"/}
    times=$(((${#text} - ${#without}) / ${#froms[$1]}))
    if [[ $times != 1 ]]; then
        echo "what it replaces is there $times times, not once"
        return
    fi
    mkdir -p "$work/$1/concord/detail" "$work/$1/concord/internal"
    [[ -z ${units[$1]} ]] || find "$algorithm" -name '*.[ch]pp' -exec cp -t "$work/$1/concord" {} +
    printf '%s\n' "${text/"${froms[$1]}"/"${tos[$1]}"}" >"$work/$1/concord/$file"
    cp "$work/$1/concord/$file" "$work/$1/concord/detail/$file"
    cp "$work/$1/concord/$file" "$work/$1/concord/internal/$file"
}

includes=()
while IFS= read -r folder; do
    includes+=("-I$folder")
done < <(find "$source"/{core,algorithms,pipeline,distributed,lab} "$build/distributed/include" -type d \( -name include -o -name internal \) -prune)

# Time limit per check in seconds. A mutant may loop forever.
patience=180
# Runs a command and appends its status to a log: 124 after the time limit.
timed() {  # LOG COMMAND...
    local log=$1 begin=$SECONDS status=0
    timeout -k 5 "$patience" "${@:2}" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0 && SECONDS - begin >= patience)); then status=124; fi
    echo "status $status" >>"$log"
}

# Compiles with the headers of a folder before all others, and runs. The last line of FOLDER/log has the status.
check() {  # FOLDER
    if ! "$compiler" -std=c++20 -O1 -ffp-contract=off -I"$1" "${includes[@]}" "$here/host_mutation.cpp" -o "$1/check" \
        -L"$build/lib" -lconcord-bench -lconcord-check -lconcord -Wl,-rpath,"$build/lib" >"$1/log" 2>&1; then
        echo "it does not compile" >>"$1/log"
        return
    fi
    timed "$1/log" "$1/check"
}
# The same for the unit of a mutant of the library, without optimisation.
check_of_library() {  # FOLDER UNIT CHECK
    local -a arguments
    read -ra arguments <<<"$3"
    [[ $3 == *--devices* ]] || arguments+=(--devices tbb)
    if [[ $2 ]] && ! "$compiler" -std=c++20 -O0 -ffp-contract=off -fPIC -shared -I"$1" "${includes[@]}" \
        "$1/concord/$2" -o "$1/ahead.so" >"$1/log" 2>&1; then
        echo "it does not compile" >>"$1/log"
        return
    fi
    timed "$1/log" env LD_PRELOAD="${2:+$1/ahead.so}" "$build/bin/concord" check --jobs 1 "${arguments[@]}"
}
status_of() { tail -n 1 "$work/$1/log"; }

# As many at once as there are processors.
processors=$(nproc 2>/dev/null || echo 2)
running=0
start() {  # COMMAND...
    if ((running == processors)); then wait -n; else ((++running)); fi
    "$@" &
}

failed=0
fail() {
    echo "FAILED  $1"
    ((++failed))
}
# New mutants come first.
new_ones=() others=()
for i in $(rotated ${#files[@]}); do
    problem=$(plant "$i")
    if [[ $problem ]]; then
        fail "${files[i]}: ${whats[i]}: $problem"
    elif [[ $only ]]; then
        [[ ${whats[i]} != "$only" ]] || others+=("$i")
    else
        # The kernel's file, the unit that compiles it, and the suite that must catch the fault.
        suite=tests/meta/host_mutation.cpp
        [[ ! ${checks[i]} ]] || suite=lab/check/suites/${checks[i]%% *}.cpp
        mutant=(tests/meta/host_mutation.sh "${whats[i]}")
        selected_number=$i
        selects_mutant "${mutant[@]}" "${files[i]}" ${units[i]:+"${units[i]}"} "$suite" || continue
        if [[ $tenth == all ]] || landed_with "${mutant[@]}"; then others+=("$i"); else new_ones+=("$i"); fi
    fi
done
planted=() sound=() left_out=0
declare -A tried=()
for i in "${new_ones[@]}" "${others[@]}"; do
    has_time || { ((++left_out)); continue; }
    planted+=("$i")
    if [[ ! ${units[i]} ]]; then
        if [[ ! -e $work/sound ]]; then
            mkdir "$work/sound"
            start check "$work/sound"
            sound+=(sound)
        fi
        start check "$work/$i"
        continue
    fi
    start check_of_library "$work/$i" "${units[i]}" "${checks[i]}"
    [[ ! ${tried[${checks[i]}]:-} ]] || continue
    tried[${checks[i]}]=1
    sound+=("$i.sound")
    mkdir "$work/$i.sound"
    start check_of_library "$work/$i.sound" "" "${checks[i]}"
done
wait

echo "mutants: ${only:-$(selection_of_mutants)}"
((left_out == 0)) || echo "left out: $left_out mutants after $CONCORD_SELECTED_SECONDS s"
for i in "${sound[@]}"; do
    if [[ $(status_of "$i") == "status 0" ]]; then
        echo "passed  without a fault: $(grep '^check:' "$work/$i/log")"
    else
        fail "without a fault: $(status_of "$i")"
        head -n 20 "$work/$i/log"
    fi
done
caught=0
for i in "${planted[@]}"; do
    if [[ $(status_of "$i") == "status 1" ]] && grep -q DIFFERS "$work/$i/log"; then
        how=$(grep -m 1 -A 1 '^FAILED' "$work/$i/log" | tail -n 1)
        echo "caught  ${files[i]}: ${whats[i]}:${how#   }"
        ((++caught))
    elif [[ $(status_of "$i") =~ ^status\ (134|139)$ ]]; then
        echo "caught  ${files[i]}: ${whats[i]}: it crashed, $(status_of "$i")"
        ((++caught))
    elif [[ $(status_of "$i") =~ ^status\ 124$ ]]; then
        echo "caught  ${files[i]}: ${whats[i]}: it did not end"
        ((++caught))
    elif [[ $(status_of "$i") == status* ]]; then
        fail "${files[i]}: ${whats[i]}: NOT CAUGHT, $(status_of "$i")"
    else
        fail "${files[i]}: ${whats[i]}: $(status_of "$i")"
        grep -m 3 error "$work/$i/log"
    fi
done
echo "$caught mutants caught, $failed failures"
[[ $failed == 0 && $caught -gt 0 ]]
