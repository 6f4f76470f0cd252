# Mutants of reduce and of shared building blocks, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# near_one is a pattern of products; in f32 of a second operator as well.
fixed="reduce --variants fixed --types i32 --patterns near_one --sizes 127,1009,1025"
fixed_large="reduce --variants fixed --types i32 --patterns near_one --sizes 65537"
signs="reduce --variants interleaved --types f32 --patterns special,zeros --sizes 127"
steps="--types i32 --patterns near_one --sizes 257,300,1009"

mutant common.cl many "$fixed_large" "no group finishes" \
    'atomic_inc(ticket) == groups - 1' 'atomic_inc(ticket) == groups'
mutant common.cl many "$fixed_large" "the ticket is not left zero" 'if (*last) *ticket = 0;' ''

mutant group_reduce.cl many "$fixed" "a step of the tree is left out" 'distance = TEAM / 2;' 'distance = TEAM / 4;'
mutant group_reduce.cl many "$fixed" "no barrier: work-items meet what their partners held before the tree" \
    '    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        local_barrier();
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) mine[j] = value[j] =' '    local_barrier();
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        if (member < distance) {
#pragma unroll
            for (u32 j = 0; j < n; ++j) value[j] ='
mutant reduce_chunk.kernel many "$fixed" "an element past the end is counted" 'if (i < length) sum[j] =' 'if (i <= length) sum[j] ='
mutant reduce_chunk.kernel many "$fixed" "unaligned rows are read one late" 'load_item(from, j)' 'load_item(from, j + 1)'
mutant reduce_chunk.kernel many "${fixed/i32/f64}" "another association: columns 64 apart meet crosswise" \
    'sum[held + j]' 'sum[HELD - 1 - j]'
mutant reduce_levels.kernel many "$fixed_large" "the last chunk is lost" \
    'sums[c] = canonical(sum);' 'sums[c] = chunks > 1 && c + 1 == chunks ? identity : sum;'
mutant reduce_levels.kernel many "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'TEAM ? upper_chunks : 0' 'TEAM ? upper_chunks - 1 : 0'
mutant reduce_chunk_wide.cl one "$fixed" "the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce_chunk_wide.cl one "${fixed/i32/f64}" "another association: columns meet crosswise" \
    'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce_wide.cl one "${fixed_large/65537/1000003}" "all groups write their sums to the same place" \
    'sums + first, identity, op)' 'sums, identity, op)'

meeting='shared[own] = apply(op, shared[own], shared[own + distance]);'
pair="if (own % (2 * distance) == 0) $meeting"
mutant reduce_steps.kernel any "$signs" "min passes over NaN" "$pair" \
    "if (own % (2 * distance) == 0 && !(identity > 1 && shared[own + distance] != shared[own + distance])) $meeting"
mutant reduce_steps.kernel any "$signs" "min takes +0 before -0" "$pair" \
    "if (own % (2 * distance) == 0 && identity > 1 && shared[own] == shared[own + distance]) {
            shared[own] += shared[own + distance];
        } else $pair"
mutant reduce_steps.kernel any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (own % (2 * distance) == 0 && identity == 0) {
            shared[own] = (T)max(-128, min(127, shared[own] + shared[own + distance]));
        } else $pair"
mutant reduce_steps.kernel any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.kernel any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[group_id()] = canonical(shared[0]);' \
    'sums[group_id()] = ((GLOBAL T*)in)[i] = shared[0];'
mutant reduce_steps.kernel any "reduce --variants sequential $steps" "no barrier: work-items meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        local_barrier();
        if (own < distance) shared[own] = apply(op, shared[own], shared[own + distance]);
    }
    return shared[own];' '    local_barrier();
    T sum = shared[own];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (own < distance) sum = apply(op, sum, shared[own + distance]);
    }
    return sum;'
mutant reduce_steps.kernel any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.kernel any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half_n < n)' 'if (i + half_n + 1 < n)'

mutant common.cu any "reduce --variants shuffle $steps" "shuffles take the wrong lane" \
    '__shfl_down_sync(all_lanes, bits, distance)' '__shfl_down_sync(all_lanes, bits, distance / 2)'
mutant common.cu any "$fixed_large" "no group finishes" \
    'atomicAdd(ticket, 1u) == groups - 1' 'atomicAdd(ticket, 1u) == groups'
mutant common.cu any "$fixed_large" "the ticket is not left zero" '*ticket = 0;' ''
mutant common.cu any "$fixed" "shuffles take the wrong lane" \
    '__shfl_down_sync(all_lanes, bits, distance)' '__shfl_down_sync(all_lanes, bits, distance / 2)'

mutant group_reduce.cu any "$fixed" "a step of the tree is left out" 'distance = TEAM / 2;' 'distance = TEAM / 4;'

# A NaN keeps the bits that the device gives it.
nans="${fixed/i32/f32}" nans="${nans/near_one/special}"
mutant reduce_levels.kernel many "$nans" "a NaN is not canonical" 'sums[c] = canonical(sum);' 'sums[c] = sum;'
mutant reduce_chunk_wide.cl one "$nans" "a NaN is not canonical" 'return canonical(sum[0]);' 'return sum[0];'

axes="reduce --variants fixed --types i32 --patterns random --sizes 9001"
mutant reduce_rows.kernel many "$axes" "a chunk begins one element late" 'begin = c * s.chunk;' 'begin = c * s.chunk + (c > 0);'
mutant reduce_short.kernel many "$axes" "a step of the tree across work-items is left out" 'distance = PARTS / 2;' 'distance = PARTS / 4;'
mutant reduce_short.kernel many "$axes" "the last tile is short of a line" 'if (part == 0 && line < s.lines)' 'if (part == 0 && line + 1 < s.lines)'
mutant reduce_columns.kernel many "$axes" "a step of the tree is left out" 'distance = Y / 2;' 'distance = Y / 4;'
mutant reduce_across.kernel many "${axes/9001/65537}" "the last, partial row is short of an element" \
    'if (row + j * TURNS < length)' 'if (row + j * TURNS + 1 < length)'
mutant reduce_across.kernel many "reduce --variants fixed --types f64 --patterns random --sizes 65537" "another association: columns meet crosswise" \
    'held[j + distance]' 'held[2 * distance - 1 - j]'
mutant reduce_lines.kernel any "$axes" "lines begin one element early" 'return offset + (i64)index * s->STRIDES[FIRST];' \
    'return offset + (i64)index * s->STRIDES[FIRST] - (COUNT == KEPT && index > 0);'
