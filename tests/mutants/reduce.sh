# Mutants of reduce and of what all algorithms share, for mutation.sh.
# shellcheck shell=bash disable=SC2016

# near_one is a pattern of products; in f32 of a second operator too.
fixed="reduce --variants fixed --types i32 --patterns near_one --sizes 127,1009,1025"
fixed_large="reduce --variants fixed --types i32 --patterns near_one --sizes 65537"
signs="reduce --variants interleaved --types f32 --patterns special,zeros --sizes 127"
steps="--types i32 --patterns near_one --sizes 257,300,1009"

mutant common.cl many "$fixed_large" "no group finishes" \
    'atomic_inc(ticket) == groups - 1' 'atomic_inc(ticket) == groups'
mutant common.cl many "$fixed_large" "the ticket is not left zero" 'if (*last) *ticket = 0;' ''

mutant reduce.cl many "$fixed" "a step of the tree is left out" 'distance = TEAM / 2;' 'distance = TEAM / 4;'
mutant reduce.cl many "$fixed" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) mine[j] = sum[j] =' '    barrier(CLK_LOCAL_MEM_FENCE);
    for (u32 distance = TEAM / 2; distance > 0; distance /= 2) {
        if (lane < distance) {
#pragma unroll
            for (int j = 0; j < PACK; ++j) sum[j] ='
mutant reduce.cl many "$fixed" "unaligned rows are read one late" '= from[j];' '= from[j + 1];'
mutant reduce.cl many "${fixed/i32/f64}" "another association: lanes 64 apart meet crosswise" \
    'sum[PACK + j]' 'sum[HELD - 1 - j]'
mutant reduce.cl many "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = sum;' '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cl many "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'team == 0 ? upper_chunks : 0' 'team == 0 ? upper_chunks - 1 : 0'
mutant reduce.cl one "$fixed" "the last element is dropped" 'l < rest; ++l' 'l + 1 < rest; ++l'
mutant reduce.cl one "${fixed/i32/f64}" "another association: lanes meet crosswise" \
    'sum[l + distance]' 'sum[2 * distance - 1 - l]'
mutant reduce.cl one "${fixed_large/65537/1000003}" "all groups write their sums to the same place" \
    'sums + first, identity, op)' 'sums, identity, op)'

meeting='shared[lane] = apply(op, shared[lane], shared[lane + distance]);'
pair="if (lane % (2 * distance) == 0) $meeting"
mutant reduce_steps.cl any "$signs" "min passes over NaN" "$pair" \
    "if (lane % (2 * distance) == 0 && !(identity > 1 && shared[lane + distance] != shared[lane + distance])) $meeting"
mutant reduce_steps.cl any "$signs" "min takes +0 before -0" "$pair" \
    "if (lane % (2 * distance) == 0 && identity > 1 && shared[lane] == shared[lane + distance]) {
            shared[lane] += shared[lane + distance];
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (lane % (2 * distance) == 0 && identity == 0) {
            shared[lane] = add_sat(shared[lane], shared[lane + distance]);
        } else $pair"
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cl any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[sums_at + get_group_id(0)] = shared[0];' \
    'sums[sums_at + get_group_id(0)] = ((__global T*)in)[in_at + i] = shared[0];'
mutant reduce_steps.cl any "reduce --variants sequential $steps" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    return shared[lane];' '    barrier(CLK_LOCAL_MEM_FENCE);
    T sum = shared[lane];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (lane < distance) sum = apply(op, sum, shared[lane + distance]);
    }
    return sum;'
mutant reduce_steps.cl any "reduce --variants sequential $steps" "the input's offset is ignored" \
    '= i < n ? in[in_at + i] : identity;
    const T sum' '= i < n ? in[i] : identity;
    const T sum'
mutant reduce_steps.cl any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.cl any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half_n < n)' 'if (i + half_n + 1 < n)'

mutant common.cu any "$fixed_large" "no group finishes" \
    'atomicAdd(ticket, 1u) == groups - 1' 'atomicAdd(ticket, 1u) == groups'
mutant common.cu any "$fixed_large" "the ticket is not left zero" '*ticket = 0;' ''
mutant common.cu any "$fixed" "shuffles take the wrong lane" \
    '__shfl_down_sync(all_lanes, value, distance)' '__shfl_down_sync(all_lanes, value, distance / 2)'

mutant reduce.cu any "$fixed" "a step of the tree is left out" 'distance = warp_width / 2;' 'distance = warp_width / 4;'
mutant reduce.cu any "$fixed" "an element past the end is counted" 'if (i < length) sum[j] =' 'if (i <= length) sum[j] ='
mutant reduce.cu any "$fixed" "unaligned rows are read one late" '__ldcg(from + j)' '__ldcg(from + j + 1)'
mutant reduce.cu any "${fixed/i32/f64}" "another association: lanes 64 apart meet crosswise" \
    'sum[pack + j]' 'sum[held - 1 - j]'
mutant reduce.cu any "$fixed_large" "the last chunk is lost" \
    '(chunks == 1 ? out : sums)[c] = sum;' '(chunks == 1 ? out : sums)[c] = c + 1 < chunks ? sum : identity;'
mutant reduce.cu any "${fixed_large/65537/1048577}" "the third level is short of one sum" \
    'reduce_chunk(upper, upper_chunks, identity, op)' 'reduce_chunk(upper, upper_chunks - 1, identity, op)'

mutant reduce_steps.cu any "$signs" "min passes over NaN" "$pair" \
    "if (lane % (2 * distance) == 0 && !(identity > 1 && shared[lane + distance] != shared[lane + distance])) $meeting"
mutant reduce_steps.cu any "$signs" "min takes +0 before -0" "$pair" \
    "if (lane % (2 * distance) == 0 && identity > 1 && shared[lane] == shared[lane + distance]) {
            shared[lane] += shared[lane + distance];
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved --types i8 --patterns random --sizes 127" \
    "sums saturate instead of wrapping" "$pair" \
    "if (lane % (2 * distance) == 0 && identity == 0) {
            shared[lane] = T(max(-128, min(127, shared[lane] + shared[lane + distance])));
        } else $pair"
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the last step of the tree is left out" \
    'distance < GROUP; distance *= 2' 'distance < GROUP / 2; distance *= 2'
mutant reduce_steps.cu any "reduce --variants interleaved $steps" "the input is written to" \
    'sums[blockIdx.x] = shared[0];' 'sums[blockIdx.x] = const_cast<T*>(in)[i] = shared[0];'
mutant reduce_steps.cu any "reduce --variants sequential $steps" "no barrier: lanes meet what their partners held before the tree" \
    '    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        __syncthreads();
        if (lane < distance) shared[lane] = apply(op, shared[lane], shared[lane + distance]);
    }
    return shared[lane];' '    __syncthreads();
    T sum = shared[lane];
    for (u32 distance = GROUP / 2; distance > 0; distance /= 2) {
        if (lane < distance) sum = apply(op, sum, shared[lane + distance]);
    }
    return sum;'
mutant reduce_steps.cu any "reduce --variants first_add $steps" "an element past the end is counted" \
    'j < n ? in[j]' 'j <= n ? in[j]'
mutant reduce_steps.cu any "reduce --variants shuffle $steps" "no barrier: the first warp meets only its own sum" \
    '    __syncthreads();
    if (lane >= warp_width) return;
    const T sum = reduce_warp(lane < GROUP / warp_width ? shared[lane] : identity, op);' \
    '    if (lane >= warp_width) return;
    const T sum = reduce_warp(lane == 0 ? warp_sum : identity, op);'
mutant reduce_steps.cu any "reduce --variants global_tree $steps" "the last element is dropped" \
    'if (i + half < n)' 'if (i + half + 1 < n)'
